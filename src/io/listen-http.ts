import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface ListenOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** An idle connection is closed after so long. */
  readonly keepAliveMs: number
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void
}

/** An HTTP/1.1 server that can end like a process: politely, or by a kill. */
export interface ListeningServer {
  readonly port: number
  /** Open connections. */
  readonly connections: number
  /** Refuses new connections and closes the open ones, answered or not. */
  close(): Promise<void>
  /** The same, but every connection is reset. */
  reset(): Promise<void>
}

/** Rejects with the system's error where the port cannot be had. */
export async function listenHttp(options: ListenOptions): Promise<ListeningServer> {
  const { host, keepAliveMs, onRequest } = options
  const sockets = new Set<Socket>()
  const server = createServer(onRequest)
  server.keepAliveTimeout = keepAliveMs
  // Node would keep an idle connection a second longer than it is told.
  server.keepAliveTimeoutBuffer = 0
  // A slow body is the client's affair here.
  server.requestTimeout = 0
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, host, resolve)
  })
  const end = (each: (socket: Socket) => void): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) each(socket)
    })
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return sockets.size
    },
    close: () => end((socket) => socket.destroy()),
    reset: () => end((socket) => socket.resetAndDestroy()),
  }
}

/** The HTTP/1.1 server that clients meet: strict about what it reads, limited in what it waits for. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface FrontServerOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly maxHeaderBytes: number
  readonly headersTimeoutMs: number
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Bytes that are no request. The socket is the callee's to answer and close. */
  readonly onBadRequest: (code: string, socket: Duplex) => void
}

export interface FrontServer {
  readonly address: string
  readonly connections: number
  /** Takes no new connections; closes idle ones now, and the others after their answer. */
  stopListening(): void
  /** Closes everything that is still open. */
  destroy(): Promise<void>
}

/** An idle client connection is closed after this. */
const keepAliveMs = 75_000
/** How often slow heads are looked for. */
const timeoutCheckMs = 1_000
const backlog = 4_096

/** Rejects with the system's error where the port cannot be had. */
export async function frontServer(options: FrontServerOptions): Promise<FrontServer> {
  const sockets = new Set<Socket>()
  const server = createServer({
    maxHeaderSize: options.maxHeaderBytes,
    headersTimeout: options.headersTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    // Bodies are timed by their silence, not by their length.
    requestTimeout: 0,
    connectionsCheckingInterval: timeoutCheckMs,
    noDelay: true,
    // Node's default is 16 KiB; tool calls and images come in large bodies.
    highWaterMark: 65_536,
    insecureHTTPParser: false,
  })
  server.on('request', options.onRequest)
  // Whoever sends `Expect: 100-continue` is told to go on; the limits hold all the same.
  server.on('checkContinue', (request, response) => {
    response.writeContinue()
    options.onRequest(request, response)
  })
  server.on('upgrade', options.onUpgrade)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    options.onBadRequest(error.code ?? 'HPE_INVALID', socket)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: options.port, host: options.host, backlog }, resolve)
  })
  return {
    address: addressOf(server.address() as AddressInfo),
    get connections() {
      return sockets.size
    },
    stopListening() {
      server.close()
      server.closeIdleConnections()
    },
    destroy() {
      return new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      })
    },
  }
}

/** As a client on this machine would write it. */
function addressOf({ address, family, port }: AddressInfo): string {
  const wildcard = address === '0.0.0.0' || address === '::'
  const host = wildcard ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address
  return `http://${host}:${port}`
}

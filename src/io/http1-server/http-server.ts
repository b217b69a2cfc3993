import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Scheduler } from '../../base/scheduler.ts'
import type { ServerOptions } from './served.ts'
import { type ConnectionHost, ServerConnection } from './server-connection.ts'
import { serverLimits } from './server-limits.ts'

/** How long a formatted date is used again. */
const dateMs = 500

/**
 * The HTTP/1.1 server that clients meet, on plain sockets: strict about what it reads, limited in
 * what it waits for, and with nothing between an answer and the socket.
 */
export class HttpServer implements ConnectionHost {
  readonly options: ServerOptions
  closing = false
  /** As a client on this machine would write it. */
  address = ''
  /** Connections turned away because of `connectionsMax`. */
  turnedAway = 0
  readonly #scheduler: Scheduler
  readonly #server: Server
  readonly #connections = new Set<ServerConnection>()
  #cancelSweep: (() => void) | null = null
  #onAllClosed: (() => void) | null = null
  #date = ''
  #dateUntilMs = Number.NEGATIVE_INFINITY

  private constructor(options: ServerOptions, scheduler: Scheduler) {
    this.options = options
    this.#scheduler = scheduler
    this.#server = createServer({
      allowHalfOpen: true,
      pauseOnConnect: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: serverLimits.tcpKeepAliveMs,
    })
    this.connectionsMax = options.connectionsMax
    this.#server.on('drop', () => this.turnedAway++)
    this.#server.on('connection', (socket) => {
      this.#connections.add(new ServerConnection(socket, this))
      this.#sweepSoon()
    })
  }

  /** Rejects with the system's error where the port cannot be had. */
  static async listen(options: ServerOptions, scheduler: Scheduler): Promise<HttpServer> {
    const server = new HttpServer(options, scheduler)
    const { host, port } = options
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject)
      server.#server.listen({ host, port, backlog: serverLimits.backlog }, () => {
        server.#server.off('error', reject)
        resolve()
      })
    })
    server.address = urlOf(server.#server.address() as AddressInfo)
    return server
  }

  get connections(): number {
    return this.#connections.size
  }

  /** Applies to connections that come from now on. */
  set connectionsMax(connectionsMax: number) {
    this.#server.maxConnections = connectionsMax
  }

  /** Takes no new connections; closes idle ones now, and the others after their answer. */
  stopListening(): void {
    this.closing = true
    this.#server.close()
    for (const connection of [...this.#connections]) if (connection.idle) connection.destroy()
  }

  /** When the last connection is gone; only after `stopListening` is that the end. */
  allClosed(): Promise<void> {
    if (this.#connections.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onAllClosed = resolve
    })
  }

  /** Closes everything that is still open. */
  async destroy(): Promise<void> {
    this.closing = true
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
    })
    for (const connection of [...this.#connections]) connection.destroy()
    this.#cancelSweep?.()
    this.#cancelSweep = null
    await closed
  }

  // What connections say.

  nowMs(): number {
    return this.#scheduler.nowMs()
  }

  date(): string {
    const nowMs = this.nowMs()
    if (nowMs >= this.#dateUntilMs) {
      this.#date = new Date().toUTCString()
      this.#dateUntilMs = nowMs + dateMs
    }
    return this.#date
  }

  closed(connection: ServerConnection): void {
    this.#connections.delete(connection)
    if (this.#connections.size === 0) this.#onAllClosed?.()
  }

  #sweepSoon(): void {
    this.#cancelSweep ??= this.#scheduler.at(this.nowMs() + serverLimits.sweepMs, () => {
      this.#cancelSweep = null
      const nowMs = this.nowMs()
      for (const connection of [...this.#connections]) connection.checkDeadline(nowMs)
      if (this.#connections.size > 0) this.#sweepSoon()
    })
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  const wildcard = address === '0.0.0.0' || address === '::'
  const host = wildcard ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address
  return `http://${host}:${port}`
}

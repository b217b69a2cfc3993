import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { serveAdmin } from './admin.ts'
import { EngineProcess, type ProcessOptions } from './engine-process.ts'
import type { Faults } from './faults.ts'
import { answerJson } from './http-answer.ts'
import type { ReplicaStats, RestartOptions } from './replica-report.ts'
import { serveRequest } from './serve-request.ts'

/** uvicorn's: an idle connection is closed after exactly this, and no header says so. */
const keepAliveMsDefault = 5000

export interface ReplicaOptions extends ProcessOptions {
  readonly host: string
  /** 0 takes any free port; a restart keeps it. */
  readonly port: number
  readonly keepAliveMs?: number
}

/** A fault of the emulator itself looks like one of the engine: a 500, or a stream that breaks. */
function fail(error: unknown, response: ServerResponse): void {
  if (response.headersSent) response.destroy()
  else answerJson(response, 500, { error: { message: String(error), type: 'InternalServerError' } })
}

/** One emulated engine behind one port. */
export class Replica {
  readonly options: ReplicaOptions
  #process: EngineProcess
  #server: Server | undefined
  #port: number
  readonly #sockets = new Set<Socket>()
  #httpRequests = 0
  #lives = 1
  #unreadyUntilMs = 0

  constructor(options: ReplicaOptions) {
    this.options = options
    this.#port = options.port
    this.#process = new EngineProcess(options)
  }

  get url(): string {
    return `http://${this.options.host}:${this.#port}`
  }

  get faults(): Faults {
    return this.#process.faults
  }

  /** Replaces the faults; they hold over a restart. */
  setFaults(faults: Faults): void {
    this.#process.faults = faults
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => this.#serve(request, response))
    server.keepAliveTimeout = this.options.keepAliveMs ?? keepAliveMsDefault
    server.keepAliveTimeoutBuffer = 0
    // Long prefills and slow clients are the engine's daily bread.
    server.requestTimeout = 0
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.#port, this.options.host, resolve)
    })
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** The process is killed: every connection is reset, and new ones are refused. */
  async kill(): Promise<void> {
    this.#process.engine.stop()
    await this.#closeServer((socket) => socket.resetAndDestroy())
  }

  /** Stops serving; connections are closed without a reset. */
  async close(): Promise<void> {
    this.#process.engine.stop()
    await this.#closeServer((socket) => socket.destroy())
  }

  /** Kills the process, if it lives, and starts another on the same port: an empty cache. */
  async restart({ downMs = 0, unreadyMs = 0 }: RestartOptions = {}): Promise<void> {
    const { wall } = this.options
    const { faults } = this.#process
    await this.kill()
    await new Promise<void>((resolve) => {
      wall.at(wall.nowMs() + downMs, resolve)
    })
    this.#process = new EngineProcess(this.options)
    this.#process.faults = faults
    this.#unreadyUntilMs = wall.nowMs() + unreadyMs
    this.#lives += 1
    await this.listen()
  }

  stats(): ReplicaStats {
    const { model } = this.#process.engine
    return {
      ...model.counters,
      running: model.running,
      waiting: model.waiting,
      kvUsage: model.pool.usage,
      connections: this.#sockets.size,
      httpRequests: this.#httpRequests,
      lives: this.#lives,
    }
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    this.#httpRequests += 1
    if (request.url?.startsWith('/emulator/') === true) {
      void serveAdmin(this, request, response)
    } else if (this.options.wall.nowMs() < this.#unreadyUntilMs) {
      response.writeHead(503).end()
    } else {
      serveRequest(this.#process, request, response).catch((error) => fail(error, response))
    }
  }

  async #closeServer(end: (socket: Socket) => void): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of this.#sockets) end(socket)
    })
  }
}

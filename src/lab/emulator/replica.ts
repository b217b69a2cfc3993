import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ListeningServer, listenHttp } from '../../io/listen-http.ts'
import { serveAdmin } from './admin.ts'
import { EngineProcess, type ProcessOptions } from './engine-process.ts'
import type { Faults, RestartOptions } from './faults.ts'
import { answerJson } from './http-answer.ts'
import type { ReplicaStats } from './replica-report.ts'
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
  #server: ListeningServer | undefined
  #port: number
  #httpRequests = 0
  #lives = 1
  #unreadyUntilMs = 0
  #closed = false

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

  get listening(): boolean {
    return this.#server !== undefined
  }

  /** Replaces the faults; they hold over a restart. */
  setFaults(faults: Faults): void {
    this.#process.faults = faults
  }

  async listen(): Promise<void> {
    this.#server = await listenHttp({
      host: this.options.host,
      port: this.#port,
      keepAliveMs: this.options.keepAliveMs ?? keepAliveMsDefault,
      onRequest: (request, response) => this.#serve(request, response),
    })
    this.#port = this.#server.port
  }

  /** The process is killed: every connection is reset, and new ones are refused. */
  async kill(): Promise<void> {
    this.#process.engine.stop()
    const server = this.#server
    this.#server = undefined
    await server?.reset()
  }

  /** Stops serving for good; connections are closed without a reset. */
  async close(): Promise<void> {
    this.#closed = true
    this.#process.engine.stop()
    const server = this.#server
    this.#server = undefined
    await server?.close()
  }

  /** Kills the process, if it lives, and starts another on the same port: an empty cache. */
  async restart({ downMs = 0, unreadyMs = 0 }: RestartOptions = {}): Promise<void> {
    const { wall } = this.options
    const { faults } = this.#process
    await this.kill()
    await new Promise<void>((resolve) => {
      wall.at(wall.nowMs() + downMs, resolve)
    })
    if (this.#closed) return
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
      connections: this.#server?.connections ?? 0,
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
}

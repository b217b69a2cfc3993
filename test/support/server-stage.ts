import type { TestContext } from 'node:test'
import { HttpServer } from '../../src/io/http1-server/http-server.ts'
import type {
  GoneReason,
  RequestReceiver,
  ServedRequest,
  ServerOptions,
} from '../../src/io/http1-server/served.ts'
import { ManualScheduler } from './manual-scheduler.ts'
import { RawClient } from './raw-client.ts'

/** One request that the server told of, with all that followed. */
export class ReceivedRequest implements RequestReceiver {
  readonly served: ServedRequest
  text = ''
  whole = false
  failed: string | null = null
  goneWhy: GoneReason | null = null
  drains = 0
  readonly #watchers = new Set<() => void>()

  constructor(served: ServedRequest) {
    this.served = served
  }

  body(piece: Buffer): void {
    this.text += piece.toString('latin1')
    this.#tell()
  }
  bodyEnd(): void {
    this.whole = true
    this.#tell()
  }
  bodyFailed(code: string): void {
    this.failed = code
    this.#tell()
  }
  drain(): void {
    this.drains++
    this.#tell()
  }
  gone(why: GoneReason): void {
    this.goneWhy = why
    this.#tell()
  }

  /** When `check` holds. */
  async when(check: (request: this) => boolean): Promise<this> {
    while (!check(this)) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#watchers.delete(wake)
          resolve()
        }
        this.#watchers.add(wake)
      })
    }
    return this
  }

  answer(status: number, body: string): void {
    const bytes = Buffer.from(body)
    this.served.begin({ status, reason: '', headers: [], contentLength: bytes.length })
    this.served.write([bytes], null)
    this.served.end()
  }

  #tell(): void {
    for (const wake of [...this.#watchers]) wake()
  }
}

/** A server on a clock that stands still; requests are answered by the test. */
export class ServerStage {
  readonly clock = new ManualScheduler()
  readonly requests: ReceivedRequest[] = []
  server!: HttpServer
  /** Called with each request as it comes, from within the server. */
  onRequest: (request: ReceivedRequest) => void = () => {}
  readonly #waiting: (() => void)[] = []
  readonly #clients: RawClient[] = []

  static async start(t: TestContext, options: Partial<ServerOptions> = {}): Promise<ServerStage> {
    const stage = new ServerStage()
    stage.server = await HttpServer.listen(
      {
        host: '127.0.0.1',
        port: 0,
        headBytesMax: 4_096,
        headTimeoutMs: 10_000,
        bodyTimeoutMs: 20_000,
        keepAliveMs: 60_000,
        stalledMs: 30_000,
        connectionsMax: 100,
        errorBody: (code, message) => JSON.stringify({ code, message }),
        onRequest: (served) => {
          const request = new ReceivedRequest(served)
          stage.requests.push(request)
          stage.onRequest(request)
          for (const wake of stage.#waiting.splice(0)) wake()
          return request
        },
        ...options,
      },
      stage.clock,
    )
    t.after(async () => {
      for (const client of stage.#clients) client.close()
      await stage.server.destroy()
    })
    return stage
  }

  get port(): number {
    return Number(new URL(this.server.address).port)
  }

  client(): RawClient {
    const client = new RawClient(this.port)
    this.#clients.push(client)
    return client
  }

  /** The request of that number, from 0, when it has come. */
  async request(number: number): Promise<ReceivedRequest> {
    while (this.requests.length <= number) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return this.requests[number]!
  }

  /** Lets the clock run in steps, with turns of the loop between, so that sockets keep up. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      this.clock.advance(Math.min(500, left))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

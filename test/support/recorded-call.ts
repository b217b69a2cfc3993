import type { Duplex } from 'node:stream'
import type {
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from '../../src/io/http1/upstream.ts'
import type { UpstreamPool } from '../../src/io/http1/upstream-pool.ts'

/** One upstream call with all that its handler was told. */
export class RecordedCall implements UpstreamHandler {
  readonly call: UpstreamCall
  /** The order of the callbacks: `connected`, `reused`, `headers`, `body`, `end`, … */
  readonly told: string[] = []
  status = 0
  reason = ''
  flat: readonly string[] = []
  trailers: readonly string[] | null = null
  failure: UpstreamFailure | null = null
  raws: (string | null)[] = []
  upgraded: { socket: Duplex; head: Buffer } | null = null
  readonly #pieces: Buffer[] = []
  readonly #waiting: { what: string; resolve: () => void }[] = []

  constructor(pool: UpstreamPool, request: Partial<UpstreamRequest> = {}) {
    const whole = { method: 'GET', path: '/', headers: [], body: null, ...request }
    this.call = pool.send(whole, this)
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString('latin1')
  }

  /** When that callback has come (once more than already awaited is not asked for). */
  async seen(what: string): Promise<this> {
    if (!this.told.includes(what)) {
      await new Promise<void>((resolve) => {
        this.#waiting.push({ what, resolve })
      })
    }
    return this
  }

  /** When it has ended in whatever way. */
  async over(): Promise<this> {
    await Promise.race([this.seen('end'), this.seen('error'), this.seen('upgrade')])
    return this
  }

  /** Every callback comes through here. */
  protected tell(what: string): void {
    this.told.push(what)
    for (const waiting of this.#waiting) if (waiting.what === what) waiting.resolve()
  }

  connected(reused: boolean): void {
    this.tell(reused ? 'reused' : 'connected')
  }

  headers(status: number, headers: readonly string[], reason: string): void {
    this.status = status
    this.flat = headers
    this.reason = reason
    this.tell('headers')
  }

  body(payload: readonly Buffer[], raw: Buffer | null): void {
    this.#pieces.push(...payload)
    this.raws.push(raw === null ? null : raw.toString('latin1'))
    this.tell('body')
  }

  end(trailers: readonly string[]): void {
    this.trailers = trailers
    this.tell('end')
  }

  error(failure: UpstreamFailure): void {
    this.failure = failure
    this.tell('error')
  }

  drain(): void {
    this.tell('drain')
  }

  upgrade(socket: Duplex, head: Buffer): void {
    this.upgraded = { socket, head }
    this.tell('upgrade')
  }
}

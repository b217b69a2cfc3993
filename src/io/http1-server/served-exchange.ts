import type { Socket } from 'node:net'
import {
  byteLength,
  encodeAnswerHead,
  type Framing,
  framingOf,
  lastChunk,
  outgoing,
} from './answer-bytes.ts'
import type { RequestHead } from './read-request-head.ts'
import type { AnswerHead, ServedRequest } from './served.ts'

/** The connection, as the exchange on it sees it. */
export interface ExchangeHost {
  readonly socket: Socket
  /** Whether another request may follow on this connection. */
  readonly mayPersist: boolean
  /** The time for a head that has none. */
  date(): string
  bodyComplete(): boolean
  pauseBody(): void
  resumeBody(): void
  /** Writes; false when the client takes bytes too slowly. */
  send(pieces: readonly Buffer[]): boolean
  /** The answer is whole. */
  answered(persistent: boolean): void
  /** The answer cannot become whole; what was sent still goes out, then the connection ends. */
  cutOff(reset: boolean): void
  giveSocket(): { readonly socket: Socket; readonly head: Buffer }
}

const nothing: readonly Buffer[] = []

/** One request on a connection, and the answer as a sequence of writes. */
export class ServedExchange implements ServedRequest {
  readonly head: RequestHead
  readonly #host: ExchangeHost
  #begun = false
  #over = false
  #persistent = false
  #framing: Framing = 'none'
  /** Of a body of known length: bytes not yet given. */
  #remaining = 0
  /** The head, until it is written with the first bytes of the body. */
  #unsent = ''

  constructor(head: RequestHead, host: ExchangeHost) {
    this.head = head
    this.#host = host
  }

  get complete(): boolean {
    return this.#host.bodyComplete()
  }

  get begun(): boolean {
    return this.#begun
  }

  get over(): boolean {
    return this.#over
  }

  /** The client is gone. */
  abandoned(): void {
    this.#over = true
    this.#unsent = ''
  }

  pauseBody(): void {
    if (!this.#over) this.#host.pauseBody()
  }

  resumeBody(): void {
    if (!this.#over) this.#host.resumeBody()
  }

  begin(head: AnswerHead): void {
    if (this.#over || this.#begun) return
    this.#begun = true
    const { method, minor, persistent } = this.head
    this.#framing = framingOf(method, minor, head)
    // A body that will not be read to its end stands in the way of another request.
    this.#persistent =
      persistent && this.#host.mayPersist && this.complete && this.#framing !== 'close'
    this.#remaining = head.contentLength ?? 0
    this.#unsent = encodeAnswerHead(head, this.#framing, minor, this.#persistent, this.#host.date())
    process.nextTick(flushHead, this)
  }

  write(payload: readonly Buffer[], raw: Buffer | null): boolean {
    if (this.#over || this.#framing === 'none') return true
    if (this.#framing === 'chunked' && raw !== null && this.#unsent === '') {
      return this.#host.send([raw])
    }
    const bytes = byteLength(payload)
    if (bytes === 0) return true
    if (this.#framing === 'length') {
      this.#remaining -= bytes
      if (this.#remaining < 0) {
        this.break(null)
        return true
      }
    }
    const head = this.#unsent
    this.#unsent = ''
    return this.#host.send(outgoing(head, payload, bytes, this.#framing === 'chunked'))
  }

  end(): void {
    if (this.#over) return
    if (!this.#begun || (this.#framing === 'length' && this.#remaining > 0)) {
      this.break(null)
      return
    }
    this.#over = true
    if (this.#unsent !== '') this.#sendHead()
    if (this.#framing === 'chunked') this.#host.send([lastChunk])
    this.#host.answered(this.#persistent)
  }

  break(lastWords: Buffer | null): void {
    if (this.#over) return
    const chunked = this.#framing === 'chunked'
    const speaks = lastWords !== null && (chunked || this.#framing === 'close')
    if (speaks) this.write([lastWords], null)
    this.#over = true
    this.#unsent = ''
    // Without chunks a plain end of the connection would look like the end of the body.
    this.#host.cutOff(!(speaks && chunked))
  }

  takeSocket(): { readonly socket: Socket; readonly head: Buffer } {
    this.#over = true
    return this.#host.giveSocket()
  }

  #sendHead(): void {
    const head = this.#unsent
    this.#unsent = ''
    this.#host.send(outgoing(head, nothing, 0, false))
  }

  static flush(exchange: ServedExchange): void {
    if (exchange.#unsent !== '') exchange.#sendHead()
  }
}

const flushHead = ServedExchange.flush

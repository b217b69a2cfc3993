/** The answer to one client, as a sequence of writes that cannot come in a wrong order. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Status texts are the engine's; where it gives none, Node's are used. */
export interface AnswerHead {
  readonly status: number
  readonly reason: string
  /** Flat name, value list, without framing headers. */
  readonly headers: string[]
  /** Bytes of the body; null when only its end will tell. */
  readonly contentLength: number | null
}

export class ClientAnswer {
  readonly #response: ServerResponse
  readonly #bodiless: boolean
  /** Whether the head was written: from then on the status cannot change. */
  begun = false
  /** Whether a byte of a body was written. */
  bodyBegun = false

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#response = response
    this.#bodiless = request.method === 'HEAD'
  }

  /** The client is gone, or everything was said. */
  get over(): boolean {
    return this.#response.destroyed || this.#response.writableEnded
  }

  begin(head: AnswerHead): void {
    if (this.begun || this.over) return
    this.begun = true
    const { status, reason, headers, contentLength } = head
    if (contentLength !== null) headers.push('content-length', String(contentLength))
    if (reason === '') this.#response.writeHead(status, headers)
    else this.#response.writeHead(status, reason, headers)
    if (contentLength === null) this.#response.flushHeaders()
  }

  /** False when the client reads too slowly: wait for `onDrain` before writing more. */
  write(payload: readonly Buffer[]): boolean {
    if (this.over || this.#bodiless) return true
    this.bodyBegun = true
    if (payload.length === 1) return this.#response.write(payload[0]!)
    this.#response.cork()
    let free = true
    for (const piece of payload) free = this.#response.write(piece)
    this.#response.uncork()
    return free
  }

  onDrain(run: () => void): void {
    this.#response.once('drain', run)
  }

  end(): void {
    if (!this.over) this.#response.end()
  }

  /** A whole small answer of our own. */
  send(status: number, headers: string[], body: string): void {
    if (this.over) return
    this.begin({ status, reason: '', headers, contentLength: Buffer.byteLength(body) })
    this.#response.end(this.#bodiless ? undefined : body)
  }

  /**
   * Ends an answer that is not whole so that the client can tell: after the last words, if any, the
   * connection closes without the body's proper end.
   */
  break(lastWords: string | null): void {
    if (this.over) return
    const socket = this.#response.socket
    if (lastWords === null || socket === null) {
      this.#response.destroy()
      return
    }
    this.#response.write(lastWords, () => socket.end(() => socket.destroy()))
  }
}

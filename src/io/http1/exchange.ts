import type { Socket } from 'node:net'
import { BodyWriter } from './body-writer.ts'
import type { Connection } from './connection.ts'
import { http1Limits } from './limits.ts'
import type { ResponseHead } from './response-head.ts'
import type { ResponseSink } from './response-parser.ts'
import type {
  UpstreamCall,
  UpstreamFailureCause,
  UpstreamHandler,
  UpstreamPhase,
  UpstreamRequest,
} from './upstream.ts'

/** The pool, as an exchange sees it. */
export interface ExchangeOwner {
  readonly connectTimeoutMs: number
  nowMs(): number
  /** A deadline of this exchange may have moved here from later. */
  wakeBy(atMs: number): void
  /** Told once, before the handler hears of the end. */
  settled(exchange: Exchange): void
  /** The connection may serve others. `hintMs`: `Keep-Alive: timeout=`, -1 without. */
  release(connection: Connection, hintMs: number): void
  /** Sends the request again, on a fresh connection. */
  resend(exchange: Exchange): void
}

/** One request and its response. */
export class Exchange implements UpstreamCall, ResponseSink {
  readonly request: UpstreamRequest
  /** Its owner's: where it stands among the others. */
  place = 0
  readonly #handler: UpstreamHandler
  readonly #owner: ExchangeOwner
  readonly #writer: BodyWriter
  #connection: Connection | null = null
  #phase: UpstreamPhase = 'connect'
  #settled = false
  #resent = false
  #paused = false
  #responseBytes = false
  #sentMs = 0
  /** From when the timeout of the present phase counts. */
  #sinceMs: number
  #firstByteMs: number
  #idleMs: number
  #head: ResponseHead | null = null

  constructor(
    request: UpstreamRequest,
    handler: UpstreamHandler,
    head: string,
    owner: ExchangeOwner,
  ) {
    this.request = request
    this.#handler = handler
    this.#owner = owner
    this.#writer = new BodyWriter(request, head)
    this.#sinceMs = owner.nowMs()
    this.#firstByteMs = request.firstByteTimeoutMs ?? Number.POSITIVE_INFINITY
    this.#idleMs = request.idleTimeoutMs ?? Number.POSITIVE_INFINITY
  }

  /** When its present phase has lasted too long. */
  get deadlineMs(): number {
    if (this.#phase === 'connect') return this.#sinceMs + this.#owner.connectTimeoutMs
    if (this.#paused) return Number.POSITIVE_INFINITY
    return this.#sinceMs + (this.#phase === 'body' ? this.#idleMs : this.#firstByteMs)
  }

  /** Its connection is being made. */
  connecting(connection: Connection): void {
    this.#connection = connection
    this.#phase = 'connect'
    this.#sinceMs = this.#owner.nowMs()
    if (this.#paused) connection.socket.pause()
    this.#owner.wakeBy(this.deadlineMs)
  }

  connectedTo(connection: Connection): void {
    this.#sendOn(connection)
    this.#tellConnected()
  }

  /** As `connectedTo`, but the handler must not be called before the caller's call returns. */
  sendOnResting(connection: Connection): void {
    connection.assign(this)
    this.#sendOn(connection)
    process.nextTick(() => {
      if (!this.#settled) this.#tellConnected()
    })
  }

  #tellConnected(): void {
    this.#handler.connected(this.#connection!.reused)
    if (this.#writer.streamed && !this.#settled) this.#handler.drain?.()
  }

  #sendOn(connection: Connection): void {
    this.#connection = connection
    this.#phase = 'sent'
    this.#sentMs = this.#owner.nowMs()
    this.#sinceMs = this.#sentMs
    const { method, upgrade } = this.request
    connection.parser.start(method, upgrade !== undefined, this)
    this.#writer.begin(connection.socket)
    if (this.#firstByteMs !== Number.POSITIVE_INFINITY) this.#owner.wakeBy(this.deadlineMs)
  }

  // What the connection says.

  bytesArrived(): void {
    this.#responseBytes = true
    if (this.#phase === 'sent') this.#phase = 'headers'
    else if (this.#phase === 'body') this.#sinceMs = this.#owner.nowMs()
  }

  drained(): void {
    if (this.#writer.streamed && !this.#settled) this.#handler.drain?.()
  }

  /** The connection is gone, or never came to be. */
  failed(cause: UpstreamFailureCause, detail: string): void {
    if (this.#settled) return
    const died = this.#diedOfIdleClose(cause)
    // Only the first time: the connection it is sent on next is a fresh one.
    if (died && this.#writer.mayRestart && this.request.once !== true) {
      this.#resent = true
      this.#writer.restart()
      this.#owner.resend(this)
      return
    }
    const connection = this.#connection
    this.#settle()
    connection?.destroy()
    this.#handler.error({
      phase: this.#phase,
      cause,
      reusedSocket: connection?.reused ?? false,
      // After a resend that could not connect, both still speak of the socket that died.
      reusedSocketDied: died || (this.#resent && this.#phase === 'connect'),
      bytesSent: this.#resent || this.#phase !== 'connect',
      responseBytes: this.#responseBytes,
      detail,
    })
  }

  /** Called by the pool when `deadlineMs` has passed. */
  timedOut(): void {
    if (this.#phase === 'connect') {
      this.failed('connect-timeout', `not connected within ${this.#owner.connectTimeoutMs} ms`)
    } else if (this.#phase === 'body') {
      this.failed('idle-timeout', `nothing came for ${this.#idleMs} ms`)
    } else {
      this.failed('first-byte-timeout', `no response head within ${this.#firstByteMs} ms`)
    }
  }

  #diedOfIdleClose(cause: UpstreamFailureCause): boolean {
    if (cause !== 'reset' && cause !== 'closed') return false
    if (this.#phase !== 'sent' || this.#responseBytes) return false
    const lastedMs = this.#owner.nowMs() - this.#sentMs
    return this.#connection!.reused && lastedMs <= http1Limits.idleCloseRaceMs
  }

  #settle(): void {
    this.#settled = true
    this.#owner.settled(this)
  }

  // What the parser says.

  headRead(head: ResponseHead): void {
    this.#head = head
    this.#phase = 'body'
    this.#sinceMs = this.#owner.nowMs()
    if (this.#idleMs !== Number.POSITIVE_INFINITY) this.#owner.wakeBy(this.deadlineMs)
    this.#handler.headers(head.status, head.headers, head.reason)
  }

  bodyRead(payload: readonly Buffer[], raw: Buffer | null): void {
    this.#handler.body(payload, raw)
  }

  ended(trailers: readonly string[], clean: boolean): void {
    const connection = this.#connection!
    const head = this.#head!
    this.#settle()
    // A response may come before the whole request was taken; the rest then has no place to go.
    if (clean && head.persistent && this.#writer.isDone(connection.socket)) {
      connection.release()
      this.#owner.release(connection, head.keepAliveMs)
    } else {
      connection.destroy()
    }
    this.#handler.end(trailers)
  }

  switched(head: ResponseHead, rest: Buffer): void {
    const handler = this.#handler
    if (handler.upgrade === undefined) {
      this.bad('101, and nobody to take the connection')
      return
    }
    this.#settle()
    const socket: Socket = this.#connection!.detach()
    handler.upgrade(socket, rest, head.headers)
  }

  bad(detail: string): void {
    this.failed('bad-response', detail)
  }

  // What the caller says.

  get bodyTaken(): boolean {
    return this.#connection !== null && this.#writer.isDone(this.#connection.socket)
  }

  abort(): void {
    if (this.#settled) return
    this.#settle()
    this.#connection?.destroy()
  }

  pause(): void {
    if (this.#settled || this.#paused) return
    this.#paused = true
    this.#connection?.socket.pause()
  }

  resume(): void {
    if (this.#settled || !this.#paused) return
    this.#paused = false
    if (this.#phase !== 'connect') this.#sinceMs = this.#owner.nowMs()
    this.#owner.wakeBy(this.deadlineMs)
    this.#connection?.socket.resume()
  }

  setTimeouts(firstByteMs: number | null, idleMs: number | null): void {
    this.#firstByteMs = firstByteMs ?? Number.POSITIVE_INFINITY
    this.#idleMs = idleMs ?? Number.POSITIVE_INFINITY
    if (!this.#settled) this.#owner.wakeBy(this.deadlineMs)
  }

  write(piece: Buffer): boolean {
    if (this.#settled) return true
    const room = this.#writer.write(piece)
    // An upload that goes on is not waiting for its answer yet.
    if (this.#phase === 'sent') this.#sinceMs = this.#owner.nowMs()
    this.#checkWriter()
    return room
  }

  endBody(): void {
    if (this.#settled) return
    this.#writer.end()
    this.#checkWriter()
  }

  #checkWriter(): void {
    if (this.#writer.fault !== null) this.failed('bad-request', this.#writer.fault)
  }
}

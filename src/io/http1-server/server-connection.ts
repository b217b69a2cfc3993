import type { Socket } from 'node:net'
import { type ErrorCode, errorCatalogue } from '../../base/errors.ts'
import { continueHead, outgoing } from './answer-bytes.ts'
import { ClientSocket } from './client-socket.ts'
import type { RequestHead } from './read-request-head.ts'
import { RequestParser, type RequestSink } from './request-parser.ts'
import type { GoneReason, RequestReceiver, ServerOptions } from './served.ts'
import { type ExchangeHost, ServedExchange } from './served-exchange.ts'
import { serverLimits } from './server-limits.ts'

/** The server, as its connections see it. */
export interface ConnectionHost {
  readonly options: ServerOptions
  /** No further request is wanted on any connection. */
  readonly closing: boolean
  nowMs(): number
  date(): string
  /** The socket is gone; told once. */
  closed(connection: ServerConnection): void
}

const noBytes = Buffer.alloc(0)

/** One client's socket: requests are read and answered one after the other. */
export class ServerConnection implements RequestSink, ExchangeHost {
  readonly socket: Socket
  readonly #client: ClientSocket
  readonly #host: ConnectionHost
  readonly #parser: RequestParser
  #exchange: ServedExchange | null = null
  #receiver: RequestReceiver | null = null
  /** Read behind the end of the request that is being answered. */
  #ahead: Buffer[] = []
  #aheadBytes = 0
  #bodyPaused = false
  #feeding = false
  /** The answer is out, the rest of what the client sends is dropped. */
  #lingering = false
  #detached = false
  /** From when the present deadline counts. */
  #sinceMs: number
  /** Since when the client takes nothing; null while it does. */
  #stalledSinceMs: number | null = null
  #served = 0

  constructor(accepted: Socket, host: ConnectionHost) {
    this.#client = new ClientSocket(accepted, this.#onBytes)
    this.#host = host
    this.#parser = new RequestParser(host.options.headBytesMax, this)
    this.#sinceMs = host.nowMs()
    const { socket } = this.#client
    this.socket = socket
    socket.on('drain', this.#onDrain)
    socket.on('end', this.#onEnd)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  /** Nothing was asked, or everything was answered. */
  get idle(): boolean {
    return this.#exchange === null && !this.#parser.headBegun && !this.#lingering
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** Acts on whatever has lasted too long. */
  checkDeadline(nowMs: number): void {
    if (this.#detached) return
    const { headTimeoutMs, bodyTimeoutMs, keepAliveMs, stalledMs } = this.#host.options
    const lastedMs = nowMs - this.#sinceMs
    // What waits is small, but the client takes none of it.
    if (this.#lingering && this.socket.writableLength > 0) this.#stalledSinceMs ??= nowMs
    if (this.#stalledSinceMs !== null && nowMs - this.#stalledSinceMs >= stalledMs) {
      this.#leave('stalled')
    } else if (this.#lingering) {
      if (this.#stalledSinceMs !== null) this.#sinceMs = nowMs
      else if (lastedMs >= serverLimits.lingerMs) this.destroy()
    } else if (this.#exchange !== null) {
      if (this.#parser.whole || this.#bodyPaused || lastedMs < bodyTimeoutMs) return
      this.#parser.stop()
      this.#bodyFailed('request_timeout', 'The body came too slowly.')
    } else if (this.#parser.headBegun) {
      if (lastedMs >= headTimeoutMs) this.bad('request_timeout', 'The headers came too slowly.')
    } else if (lastedMs >= (this.#served === 0 ? headTimeoutMs : keepAliveMs)) {
      this.destroy()
    }
  }

  // What the parser says.

  headRead(head: RequestHead): void {
    this.#served++
    const exchange = new ServedExchange(head, this)
    this.#exchange = exchange
    const receiver = this.#host.options.onRequest(exchange)
    // An answer may have been given already.
    if (this.#exchange !== exchange || exchange.over) return
    this.#receiver = receiver
    if (head.expectsContinue && !this.#parser.whole && !exchange.begun) {
      this.send([continueHead])
    }
  }

  bodyRead(piece: Buffer): void {
    this.#receiver?.body(piece)
  }

  bodyEnded(): void {
    // From here on reading only tells whether the client is still there.
    this.resumeBody()
    this.#receiver?.bodyEnd()
  }

  bad(code: ErrorCode, message: string): void {
    if (this.#exchange !== null) {
      this.#bodyFailed(code, message)
      return
    }
    const { status } = errorCatalogue[code]
    const body = Buffer.from(this.#host.options.errorBody(code, message))
    const head =
      `HTTP/1.1 ${status} ${code === 'bad_request' ? 'Bad Request' : 'Refused'}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      `Date: ${this.date()}\r\nConnection: close\r\n\r\n`
    this.send(outgoing(head, [body], body.length, false))
    this.#linger()
  }

  #bodyFailed(code: ErrorCode, message: string): void {
    const exchange = this.#exchange!
    if (exchange.over || exchange.begun) this.#leave('closed')
    else this.#receiver?.bodyFailed(code, message)
  }

  // What the exchange says.

  get mayPersist(): boolean {
    return !this.#host.closing
  }

  date(): string {
    return this.#host.date()
  }

  bodyComplete(): boolean {
    return this.#parser.whole
  }

  pauseBody(): void {
    if (this.#parser.whole || this.#bodyPaused) return
    this.#bodyPaused = true
    this.socket.pause()
  }

  resumeBody(): void {
    if (!this.#bodyPaused) return
    this.#bodyPaused = false
    this.#sinceMs = this.#host.nowMs()
    this.socket.resume()
  }

  send(pieces: readonly Buffer[]): boolean {
    const { socket } = this
    if (socket.destroyed) return true
    let room: boolean
    if (pieces.length === 1) {
      room = socket.write(pieces[0]!)
    } else {
      room = true
      socket.cork()
      for (const piece of pieces) room = socket.write(piece)
      socket.uncork()
    }
    if (!room) this.#stalledSinceMs ??= this.#host.nowMs()
    return room
  }

  answered(persistent: boolean): void {
    this.#exchange = null
    this.#receiver = null
    if (!persistent) {
      this.#linger()
      return
    }
    this.#parser.next()
    this.#sinceMs = this.#host.nowMs()
    if (this.#host.closing && this.#aheadBytes === 0) this.socket.destroySoon()
    else if (!this.#feeding) this.#feedAhead()
  }

  cutOff(reset: boolean): void {
    this.#exchange = null
    this.#receiver = null
    this.#parser.stop()
    if (!reset) {
      this.#linger()
      return
    }
    this.#lingering = true
    if (this.socket.writableLength === 0) this.socket.resetAndDestroy()
    else this.socket.write(noBytes, () => this.socket.resetAndDestroy())
  }

  giveSocket(): { readonly socket: Socket; readonly head: Buffer } {
    this.#detached = true
    this.#exchange = null
    this.#receiver = null
    this.#stalledSinceMs = null
    const socket = this.#client.release()
    socket.off('drain', this.#onDrain)
    socket.off('end', this.#onEnd)
    const head = Buffer.concat(this.#ahead, this.#aheadBytes)
    this.#ahead = []
    this.#aheadBytes = 0
    return { socket, head }
  }

  /** Sends what waits and the end of the connection; what the client still sends is dropped. */
  #linger(): void {
    this.#lingering = true
    this.#sinceMs = this.#host.nowMs()
    this.#parser.stop()
    this.#ahead = []
    this.#aheadBytes = 0
    this.socket.end()
    if (this.socket.isPaused()) this.socket.resume()
  }

  #leave(why: GoneReason): void {
    const exchange = this.#exchange
    const receiver = this.#receiver
    this.#exchange = null
    this.#receiver = null
    this.#parser.stop()
    if (exchange === null) {
      // The last answer may still be on its way.
      this.socket.destroySoon()
      return
    }
    this.destroy()
    exchange.abandoned()
    receiver?.gone(why)
  }

  // What the socket says.

  readonly #onBytes = (buffer: Buffer): void => {
    if (this.#lingering) return
    if (this.#parser.whole || this.#aheadBytes > 0) {
      this.#keepAhead(buffer)
      return
    }
    if (!this.#parser.headBegun || this.#exchange !== null) this.#sinceMs = this.#host.nowMs()
    this.#feed(buffer)
  }

  #feed(buffer: Buffer): void {
    this.#feeding = true
    let rest = buffer
    for (;;) {
      const taken = this.#parser.read(rest)
      if (taken === rest.length || this.#lingering) break
      rest = rest.subarray(taken)
      // The request before was answered within its last byte: go on with the next.
      if (!this.#parser.whole) continue
      this.#keepAhead(rest)
      break
    }
    this.#feeding = false
  }

  #keepAhead(buffer: Buffer): void {
    if (this.#lingering) return
    this.#ahead.push(Buffer.from(buffer))
    this.#aheadBytes += buffer.length
    if (this.#aheadBytes >= serverLimits.aheadBytesMax) this.socket.pause()
  }

  #feedAhead(): void {
    if (this.#aheadBytes === 0) return
    const buffer =
      this.#ahead.length === 1 ? this.#ahead[0]! : Buffer.concat(this.#ahead, this.#aheadBytes)
    this.#ahead = []
    this.#aheadBytes = 0
    if (this.socket.isPaused()) this.socket.resume()
    this.#feed(buffer)
  }

  readonly #onDrain = (): void => {
    this.#stalledSinceMs = null
    this.#receiver?.drain()
  }

  readonly #onEnd = (): void => {
    this.#leave('closed')
  }

  readonly #onError = (): void => {
    if (!this.#detached) this.#leave('reset')
  }

  readonly #onClose = (): void => {
    if (!this.#detached) this.#leave('reset')
    this.#host.closed(this)
  }
}

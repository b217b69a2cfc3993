import type { ErrorCode } from '../../base/errors.ts'
import { ChunkedDecoder } from '../http1/chunked-decoder.ts'
import { HeadReader } from '../http1/head-reader.ts'
import { tokenBytes } from '../http1/header-bytes.ts'
import { BadResponse, HeadTooLarge, parseFieldLines } from '../http1/response-head.ts'
import { BadRequestBytes, type RequestHead, readRequestHead } from './read-request-head.ts'

/** What the parser finds, in order; `bodyEnded` or `bad` comes last. */
export interface RequestSink {
  headRead(head: RequestHead): void
  bodyRead(piece: Buffer): void
  bodyEnded(): void
  bad(code: ErrorCode, message: string): void
}

const HEAD = 0
const FIXED = 1
const CHUNKED = 2
const TRAILERS = 3
/** A request is whole; the bytes behind it wait for `next`. */
const WHOLE = 4
const BAD = 5

/** Names that have no place in a trailer section (RFC 9110, 6.5.1). */
const framingName = /^(transfer-encoding|content-length|host)$/i

const CR = 13
const LF = 10

/**
 * HTTP/1.x requests (RFC 9112), fed in reads of any size. Strict: what another server could take
 * differently is refused, never guessed at. One for each connection.
 */
export class RequestParser {
  #state = HEAD
  readonly #sink: RequestSink
  readonly #heads: HeadReader
  readonly #chunks = new ChunkedDecoder()
  #remaining = 0
  #headBegun = false

  constructor(headBytesMax: number, sink: RequestSink) {
    this.#sink = sink
    this.#heads = new HeadReader(headBytesMax)
    this.#heads.startRequest()
  }

  /** Whether a part of a head has come. */
  get headBegun(): boolean {
    return this.#headBegun
  }

  /** Whether a request was read to its end. */
  get whole(): boolean {
    return this.#state === WHOLE
  }

  /** The request was answered: the next one may be read. */
  next(): void {
    this.#state = HEAD
    this.#headBegun = false
    this.#heads.startRequest()
  }

  /** Nothing more is understood, or told. */
  stop(): void {
    this.#state = BAD
  }

  /**
   * Takes one read. Slices of it go to the sink, which keeps none. Returns how many bytes were
   * taken: the others stand behind the end of a request.
   */
  read(buffer: Buffer): number {
    try {
      return this.#read(buffer)
    } catch (error) {
      this.stop()
      if (error instanceof BadRequestBytes) this.#sink.bad(error.code, error.message)
      else if (error instanceof HeadTooLarge) this.#sink.bad('headers_too_large', error.message)
      else if (error instanceof BadResponse) this.#sink.bad('bad_request', error.message)
      else throw error
      return buffer.length
    }
  }

  #read(buffer: Buffer): number {
    let at = 0
    while (at < buffer.length) {
      switch (this.#state) {
        case HEAD:
          at = this.#readHead(buffer, at)
          break
        case FIXED:
          at = this.#readFixed(buffer, at)
          break
        case CHUNKED:
          at = this.#readChunks(buffer, at)
          break
        case TRAILERS:
          at = this.#readTrailers(buffer, at)
          break
        case WHOLE:
          return at
        default:
          return buffer.length
      }
    }
    return at
  }

  #readHead(buffer: Buffer, from: number): number {
    let at = from
    if (!this.#headBegun) {
      // RFC 9112, 2.2: an empty line may precede a request.
      while (at < buffer.length && (buffer[at] === CR || buffer[at] === LF)) at++
      if (at === buffer.length) return at
      if (tokenBytes[buffer[at]!] === 0) throw new BadRequestBytes('not HTTP/1.x')
      this.#headBegun = true
    }
    const next = this.#heads.read(buffer, at, buffer.length)
    if (next < 0) return buffer.length
    const head = readRequestHead(this.#heads.buffer, this.#heads.start, this.#heads.end)
    if (head.chunked) {
      this.#state = CHUNKED
      this.#chunks.start()
    } else if (head.contentLength > 0) {
      this.#state = FIXED
      this.#remaining = head.contentLength
    } else {
      this.#state = WHOLE
    }
    const bodyless = this.#state === WHOLE
    this.#sink.headRead(head)
    if (bodyless && this.#state === WHOLE) this.#sink.bodyEnded()
    return next
  }

  #readFixed(buffer: Buffer, at: number): number {
    const end = Math.min(buffer.length, at + this.#remaining)
    this.#remaining -= end - at
    const last = this.#remaining === 0
    if (last) this.#state = WHOLE
    this.#sink.bodyRead(at === 0 && end === buffer.length ? buffer : buffer.subarray(at, end))
    if (last && this.#state === WHOLE) this.#sink.bodyEnded()
    return end
  }

  #readChunks(buffer: Buffer, at: number): number {
    const payload: Buffer[] = []
    const next = this.#chunks.decode(buffer, at, buffer.length, payload)
    for (const piece of payload) if (this.#state === CHUNKED) this.#sink.bodyRead(piece)
    if (this.#chunks.ended && this.#state === CHUNKED) {
      this.#state = TRAILERS
      this.#heads.startTrailers()
    }
    return next
  }

  /** Trailers are checked and dropped: no engine reads them. */
  #readTrailers(buffer: Buffer, at: number): number {
    const next = this.#heads.read(buffer, at, buffer.length)
    if (next < 0) return buffer.length
    const { buffer: source, start, end } = this.#heads
    const trailers: string[] = []
    parseFieldLines(source, source.toString('latin1', start, end), start, start + 2, trailers)
    if (trailers.some((text, i) => i % 2 === 0 && framingName.test(text))) {
      throw new BadRequestBytes('a trailer speaks of the framing')
    }
    this.#state = WHOLE
    this.#sink.bodyEnded()
    return next
  }
}

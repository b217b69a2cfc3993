import { ChunkedDecoder } from './chunked-decoder.ts'
import { HeadReader } from './head-reader.ts'
import { http1Limits } from './limits.ts'
import {
  BadResponse,
  parseFieldLines,
  parseResponseHead,
  type ResponseHead,
} from './response-head.ts'

/** What the parser finds, in order; `ended`, `switched` or `bad` comes last. */
export interface ResponseSink {
  headRead(head: ResponseHead): void
  /** See UpstreamHandler.body. */
  bodyRead(payload: readonly Buffer[], raw: Buffer | null): void
  /** `clean`: nothing came behind the response. */
  ended(trailers: readonly string[], clean: boolean): void
  /** 101 came; `rest` was read behind its head. */
  switched(head: ResponseHead, rest: Buffer): void
  bad(detail: string): void
}

const IDLE = 0
const HEAD = 1
const FIXED = 2
const CHUNKED = 3
const TRAILERS = 4
const UNTIL_CLOSE = 5

const noTrailers: readonly string[] = []

/**
 * HTTP/1.x responses (RFC 9112), fed in reads of any size. Strict: what other readers could take
 * differently is refused. One for each connection, used for one response after another.
 */
export class ResponseParser {
  #state = IDLE
  #sink: ResponseSink | null = null
  readonly #heads: HeadReader
  readonly #chunks = new ChunkedDecoder()
  #bodyless = false
  #mayUpgrade = false
  #interim = 0
  #remaining = 0

  constructor(headBytesMax: number) {
    this.#heads = new HeadReader(headBytesMax)
  }

  /** Expects the response to a request of this method. */
  start(method: string, mayUpgrade: boolean, sink: ResponseSink): void {
    this.#sink = sink
    this.#bodyless = method === 'HEAD'
    this.#mayUpgrade = mayUpgrade
    this.#interim = 0
    this.#state = HEAD
    this.#heads.startHead()
  }

  /** Nothing more is told of this response. */
  stop(): void {
    this.#state = IDLE
    this.#sink = null
  }

  /** Takes one read. Slices of it go to the sink, so it must not be written to again. */
  read(buffer: Buffer): void {
    try {
      let at = 0
      if (this.#state === HEAD) at = this.#readHeads(buffer)
      if (at >= 0) this.#readBody(buffer, at)
    } catch (error) {
      if (!(error instanceof BadResponse)) throw error
      const sink = this.#sink
      this.stop()
      sink?.bad(error.message)
    }
  }

  /** The server sent its last byte. Says whether that ended a response in good order. */
  finish(): boolean {
    if (this.#state !== UNTIL_CLOSE) return false
    this.#end(noTrailers, false)
    return true
  }

  /** Reads heads up to the final one. Returns the position behind it, -1 when there is no more. */
  #readHeads(buffer: Buffer): number {
    let at = 0
    while (at < buffer.length) {
      at = this.#heads.read(buffer, at, buffer.length)
      if (at < 0) return -1
      const { buffer: source, start, end } = this.#heads
      const head = parseResponseHead(source, start, end)
      if (head.status >= 200) {
        this.#startBody(head, at === buffer.length)
        return this.#state === IDLE ? -1 : at
      }
      if (head.status === 101) {
        this.#switch(head, buffer.subarray(at))
        return -1
      }
      if (++this.#interim > http1Limits.interimMax) throw new BadResponse('too many 1xx responses')
      this.#heads.startHead()
    }
    return -1
  }

  #switch(head: ResponseHead, rest: Buffer): void {
    if (!this.#mayUpgrade) throw new BadResponse('101 without an upgrade asked for')
    const sink = this.#sink!
    this.stop()
    sink.switched(head, rest)
  }

  #startBody(head: ResponseHead, clean: boolean): void {
    const { status } = head
    const sink = this.#sink!
    const bodyless = this.#bodyless || status === 204 || status === 304 || head.contentLength === 0
    if (head.chunked) {
      this.#state = CHUNKED
      this.#chunks.start()
    } else if (head.contentLength >= 0) {
      this.#state = FIXED
      this.#remaining = head.contentLength
    } else {
      this.#state = UNTIL_CLOSE
    }
    sink.headRead(head)
    if (bodyless && this.#sink === sink) this.#end(noTrailers, clean)
  }

  #readBody(buffer: Buffer, at: number): void {
    if (at >= buffer.length) return
    if (this.#state === FIXED) {
      this.#readFixed(buffer, at)
    } else if (this.#state === CHUNKED) {
      this.#readChunks(buffer, at)
    } else if (this.#state === UNTIL_CLOSE) {
      this.#sink!.bodyRead([at === 0 ? buffer : buffer.subarray(at)], null)
    } else if (this.#state === TRAILERS) {
      this.#readTrailers(buffer, at)
    }
  }

  #readFixed(buffer: Buffer, at: number): void {
    const sink = this.#sink!
    const end = Math.min(buffer.length, at + this.#remaining)
    this.#remaining -= end - at
    sink.bodyRead([buffer.subarray(at, end)], null)
    if (this.#remaining === 0 && this.#sink === sink) {
      this.#end(noTrailers, end === buffer.length)
    }
  }

  #readChunks(buffer: Buffer, at: number): void {
    const payload: Buffer[] = []
    let failure: unknown = null
    let next = buffer.length
    let rawEnd = -1
    try {
      next = this.#chunks.decode(buffer, at, buffer.length, payload)
      rawEnd = this.#chunks.rawEnd
    } catch (error) {
      failure = error
    }
    if (payload.length > 0) {
      this.#sink!.bodyRead(payload, rawOf(buffer, at, rawEnd))
    }
    if (this.#state !== CHUNKED) return
    if (failure !== null) throw failure
    if (this.#chunks.ended) {
      this.#state = TRAILERS
      this.#heads.startTrailers()
      this.#readTrailers(buffer, next)
    }
  }

  #readTrailers(buffer: Buffer, at: number): void {
    if (at >= buffer.length) return
    const next = this.#heads.read(buffer, at, buffer.length)
    if (next < 0) return
    const { buffer: source, start, end } = this.#heads
    const trailers: string[] = []
    // Behind the last chunk's line end, which the reader counts in.
    const text = source.toString('latin1', start, end)
    parseFieldLines(source, text, start, start + 2, trailers)
    this.#end(trailers, next === buffer.length)
  }

  #end(trailers: readonly string[], clean: boolean): void {
    const sink = this.#sink!
    this.stop()
    sink.ended(trailers, clean)
  }
}

/** Most reads are one whole chunk, and need no view of their own. */
function rawOf(buffer: Buffer, from: number, to: number): Buffer | null {
  if (to <= from) return null
  return from === 0 && to === buffer.length ? buffer : buffer.subarray(from, to)
}

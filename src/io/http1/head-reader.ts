import { BadResponse, HeadTooLarge } from './response-head.ts'

const CR = 13
const LF = 10

/** `HTTP/1.`: whatever differs is not HTTP, and is refused before a whole head has come. */
const httpPrefix = Buffer.from('HTTP/1.', 'latin1')

/**
 * Gathers a head, or a trailer section, up to its empty line. Where all of it is in one read,
 * nothing is copied.
 */
export class HeadReader {
  /** After `read` said true: the bytes `[start, end)` of `buffer`, the empty line included. */
  buffer: Buffer
  start = 0
  end = 0
  readonly #bytesMax: number
  #store: Buffer | null = null
  #stored = 0
  #prefix: Buffer | null = httpPrefix

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.buffer = httpPrefix
  }

  /** Begins a response head. */
  startHead(): void {
    this.#store = null
    this.#stored = 0
    this.#prefix = httpPrefix
  }

  /** Begins a request head, which may begin with any method. */
  startRequest(): void {
    this.#store = null
    this.#stored = 0
    this.#prefix = null
  }

  /** Begins a trailer section; the line end of the last chunk counts as its first two bytes. */
  startTrailers(): void {
    this.#store = Buffer.allocUnsafe(256)
    this.#stored = this.#store.write('\r\n', 'latin1')
    this.#prefix = null
  }

  get empty(): boolean {
    return this.#stored === 0
  }

  /**
   * Takes bytes from `buffer[from, to)`. Returns the position behind the head when it is whole,
   * else -1 with everything taken. Throws BadResponse.
   */
  read(buffer: Buffer, from: number, to: number): number {
    if (this.#store === null) {
      const end = this.#findEnd(buffer, from, from, to)
      if (end >= 0) {
        this.buffer = buffer
        this.start = from
        this.end = end
        return end
      }
      this.#append(buffer, from, to)
      return -1
    }
    const before = this.#stored
    this.#append(buffer, from, to)
    const end = this.#findEnd(this.#store, 0, before, this.#stored)
    if (end < 0) return -1
    this.buffer = this.#store
    this.start = 0
    this.end = end
    return from + end - before
  }

  #append(buffer: Buffer, from: number, to: number): void {
    // One byte beyond the limit is enough to know that it was passed.
    const length = Math.min(to - from, this.#bytesMax + 1 - this.#stored)
    const needed = this.#stored + length
    if (this.#store === null || this.#store.length < needed) {
      const grown = Buffer.allocUnsafe(Math.max(1024, 2 * needed))
      if (this.#store !== null) this.#store.copy(grown, 0, 0, this.#stored)
      this.#store = grown
    }
    buffer.copy(this.#store, this.#stored, from, from + length)
    this.#stored = needed
  }

  /** Looks in `[from, to)` of a head that begins at `start`. */
  #findEnd(buffer: Buffer, start: number, from: number, to: number): number {
    this.#checkPrefix(buffer, start, from, to)
    const limit = Math.min(to, start + this.#bytesMax)
    for (let i = from; i < limit; i++) {
      if (buffer[i] !== LF) continue
      if (i === start || buffer[i - 1] !== CR) throw new BadResponse('line end without CR')
      if (i - start >= 3 && buffer[i - 2] === LF && buffer[i - 3] === CR) return i + 1
    }
    if (to > limit) throw new HeadTooLarge(`head longer than ${this.#bytesMax} bytes`)
    return -1
  }

  #checkPrefix(buffer: Buffer, start: number, from: number, to: number): void {
    const prefix = this.#prefix
    if (prefix === null) return
    const limit = Math.min(to - start, prefix.length)
    for (let i = from - start; i < limit; i++) {
      if (buffer[start + i] !== prefix[i]) throw new BadResponse('not HTTP/1.x')
    }
  }
}

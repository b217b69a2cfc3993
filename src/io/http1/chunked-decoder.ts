import { http1Limits } from './limits.ts'
import { BadResponse } from './response-head.ts'

const CR = 13
const LF = 10
const SEMICOLON = 59

/** Between chunks: the next byte begins a size line. */
const BOUNDARY = 0
const SIZE = 1
/** Blanks before an extension; RFC 9112 section 7.1.1 asks recipients to bear with them. */
const BLANK = 2
const EXTENSION = 3
const SIZE_LF = 4
const DATA = 5
const DATA_CR = 6
const DATA_LF = 7
/** The last chunk's size line is read; a trailer section follows. */
const LAST = 8

/** The chunked framing of RFC 9112 section 7.1, without its trailer section. */
export class ChunkedDecoder {
  /**
   * After `decode`: where the whole chunks that hold all of this read's payload end, when it began
   * between chunks and none had an extension; else -1.
   */
  rawEnd = -1
  #state = BOUNDARY
  #remaining = 0
  #lineBytes = 0
  #extended = false

  start(): void {
    this.#state = BOUNDARY
  }

  get ended(): boolean {
    return this.#state === LAST
  }

  /**
   * Decodes `buffer[from, to)`, pushes the payload's slices onto `payload` and returns where it
   * stopped: `to`, or behind the last chunk's size line. Throws BadResponse; what was pushed before
   * it did is good.
   */
  decode(buffer: Buffer, from: number, to: number, payload: Buffer[]): number {
    let i = from
    let whole = this.#state === BOUNDARY ? from : -1
    let covered = 0
    this.#extended = false
    while (i < to && this.#state !== LAST) {
      if (this.#state === DATA) {
        const end = Math.min(to, i + this.#remaining)
        payload.push(buffer.subarray(i, end))
        this.#remaining -= end - i
        i = end
        if (this.#remaining === 0) this.#state = DATA_CR
      } else if (this.#state === DATA_CR) {
        if (buffer[i++] !== CR) throw new BadResponse('chunk longer than its size')
        this.#state = DATA_LF
      } else if (this.#state === DATA_LF) {
        if (buffer[i++] !== LF) throw new BadResponse('chunk longer than its size')
        this.#state = BOUNDARY
        if (whole >= 0) whole = i
        covered = payload.length
      } else {
        i = this.#sizeLine(buffer, i, to)
      }
    }
    this.rawEnd = this.#extended || covered !== payload.length ? -1 : whole
    return i
  }

  #sizeLine(buffer: Buffer, from: number, to: number): number {
    let i = from
    if (this.#state === BOUNDARY) {
      this.#remaining = hexDigit(buffer[i++]!)
      if (this.#remaining < 0) throw new BadResponse('chunk size is not hexadecimal')
      this.#lineBytes = 1
      this.#state = SIZE
    }
    while (i < to) {
      const byte = buffer[i++]!
      if (this.#state === SIZE_LF) {
        if (byte !== LF) throw new BadResponse('bare CR in a chunk size line')
        this.#state = this.#remaining === 0 ? LAST : DATA
        return i
      }
      if (++this.#lineBytes > http1Limits.chunkLineBytesMax) {
        throw new BadResponse('chunk size line too long')
      }
      this.#sizeByte(byte)
    }
    return i
  }

  #sizeByte(byte: number): void {
    if (byte === CR && this.#state !== BLANK) {
      this.#state = SIZE_LF
    } else if (this.#state === EXTENSION) {
      if ((byte < 0x20 && byte !== 9) || byte === 0x7f) {
        throw new BadResponse('control character in a chunk extension')
      }
    } else if (byte === SEMICOLON) {
      this.#state = EXTENSION
      this.#extended = true
    } else if (byte === 0x20 || byte === 9) {
      this.#state = BLANK
    } else {
      const digit = this.#state === SIZE ? hexDigit(byte) : -1
      if (digit < 0) throw new BadResponse('chunk size is not hexadecimal')
      this.#remaining = this.#remaining * 16 + digit
      if (!Number.isSafeInteger(this.#remaining)) throw new BadResponse('chunk size too large')
    }
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** Chained 64-bit hashes over the blocks of a byte stream that is written piece by piece. */
import { type BlockChain, blockBytes, emptyChain } from '../core/block-chain.ts'
import { limits } from '../core/limits.ts'

const scratchBytes = 128 * 1024
/** Characters written at once: each takes three bytes of UTF-8 at most. */
const sliceChars = 32 * 1024
/** Below this a loop beats the call into the string encoder. */
const shortChars = 16
const blockWords = blockBytes / 4

// Odd constants with well spread bits, from xxHash's primes.
const prime1 = 0x9e3779b1 | 0
const prime2 = 0x85ebca77 | 0
const prime3 = 0xc2b2ae3d | 0
const prime4 = 0x27d4eb2f | 0

/** MurmurHash3's 32-bit finaliser: every input bit reaches every output bit. */
function avalanche(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** A stream's hash at some point: what `resume` needs to go on from there. */
export interface HasherState {
  readonly lo: number
  readonly hi: number
  readonly chain: BlockChain
  /** The bytes behind the last whole block. */
  readonly tail: Uint8Array
  readonly bytes: number
}

/**
 * Text is written as UTF-8, in which the byte 0xff never occurs; structure is written as 0xff and a
 * tag, so that no text can pass for structure. Strings go into one scratch buffer that is hashed
 * when it fills: large enough to amortise the calls, small enough to stay in the cache.
 */
export class BlockHasher {
  #lo = 0
  #hi = 0
  #at = 0
  /** Bytes hashed and gone from the scratch buffer. */
  #hashedBytes = 0
  #blocks = 0
  readonly #scratch = Buffer.alloc(scratchBytes)
  readonly #bytes: Uint8Array
  readonly #words: Int32Array
  readonly #loOut = new Uint32Array(limits.blocksPerPromptMax)
  readonly #hiOut = new Uint32Array(limits.blocksPerPromptMax)

  constructor() {
    const { buffer, byteOffset } = this.#scratch
    this.#bytes = new Uint8Array(buffer, byteOffset, scratchBytes)
    this.#words = new Int32Array(buffer, byteOffset, scratchBytes / 4)
  }

  /** Begins a new stream; the seed separates streams that must never look alike. */
  start(seedLo: number, seedHi: number): void {
    this.#lo = seedLo | 0
    this.#hi = seedHi | 0
    this.#at = 0
    this.#hashedBytes = 0
    this.#blocks = 0
  }

  resume(state: HasherState): void {
    this.start(state.lo, state.hi)
    this.#loOut.set(state.chain.lo.subarray(0, state.chain.length))
    this.#hiOut.set(state.chain.hi.subarray(0, state.chain.length))
    this.#blocks = state.chain.length
    this.#hashedBytes = state.bytes - state.tail.length
    this.#scratch.set(state.tail)
    this.#at = state.tail.length
  }

  tag(tag: number): void {
    if (this.#at + 2 > scratchBytes) this.#hash()
    this.#scratch[this.#at++] = 0xff
    this.#scratch[this.#at++] = tag
  }

  text(text: string): void {
    const { length } = text
    if (length <= shortChars && this.#short(text, length)) return
    if (length <= sliceChars) {
      this.#slice(text)
      return
    }
    for (let from = 0; from < length; ) {
      let to = Math.min(from + sliceChars, length)
      // Both halves of a character beyond 16 bits go into one call.
      if (to < length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--
      this.#slice(text.slice(from, to))
      from = to
    }
  }

  /** Four bytes, whatever they are: for token ids, and for lengths. */
  word(value: number): void {
    if (this.#at + 4 > scratchBytes) this.#hash()
    const scratch = this.#scratch
    scratch[this.#at++] = value
    scratch[this.#at++] = value >>> 8
    scratch[this.#at++] = value >>> 16
    scratch[this.#at++] = value >>> 24
  }

  get bytes(): number {
    return this.#hashedBytes + this.#at
  }

  /** The state after the last byte written; what it holds is its own. */
  state(): HasherState {
    this.#hash()
    const blocks = this.#blocks
    const chain =
      blocks === 0
        ? emptyChain
        : { lo: this.#loOut.slice(0, blocks), hi: this.#hiOut.slice(0, blocks), length: blocks }
    const tail = this.#bytes.slice(0, this.#at)
    return { lo: this.#lo, hi: this.#hi, chain, tail, bytes: this.bytes }
  }

  /** Hash of the whole stream, its tail included. The stream cannot go on behind it. */
  digest(): { lo: number; hi: number } {
    this.word(this.bytes)
    this.#hash()
    if (this.#at > 0) {
      this.#bytes.fill(0, this.#at, blockBytes)
      this.#at = blockBytes
      this.#hash()
    }
    return { lo: this.#lo, hi: this.#hi }
  }

  #short(text: string, length: number): boolean {
    if (this.#at + shortChars > scratchBytes) this.#hash()
    const scratch = this.#scratch
    const at = this.#at
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) return false
      scratch[at + i] = code
    }
    this.#at = at + length
    return true
  }

  #slice(text: string): void {
    if (this.#at + 3 * text.length > scratchBytes) this.#hash()
    this.#at += this.#scratch.write(text, this.#at)
  }

  /** Hashes the whole blocks in the scratch buffer and moves the tail to its head. */
  #hash(): void {
    const blocks = (this.#at / blockBytes) | 0
    if (blocks === 0) return
    const words = this.#words
    const room = limits.blocksPerPromptMax
    let lo = this.#lo
    let hi = this.#hi
    for (let block = 0; block < blocks; block++) {
      // Even and odd words run in two chains for each half, so that the multiplications overlap.
      let a = lo
      let b = hi
      let c = hi ^ prime3
      let d = lo ^ prime4
      const end = (block + 1) * blockWords
      for (let i = block * blockWords; i < end; i += 4) {
        const w0 = words[i]
        const w1 = words[i + 1]
        const w2 = words[i + 2]
        const w3 = words[i + 3]
        a = Math.imul(a ^ w0, prime1)
        b = Math.imul(b ^ w0, prime2)
        c = Math.imul(c ^ w1, prime1)
        d = Math.imul(d ^ w1, prime2)
        a = Math.imul(((a << 13) | (a >>> 19)) ^ w2, prime1)
        b = Math.imul(((b << 17) | (b >>> 15)) ^ w2, prime2)
        c = Math.imul(((c << 13) | (c >>> 19)) ^ w3, prime1)
        d = Math.imul(((d << 17) | (d >>> 15)) ^ w3, prime2)
        a = (a << 13) | (a >>> 19)
        b = (b << 17) | (b >>> 15)
        c = (c << 13) | (c >>> 19)
        d = (d << 17) | (d >>> 15)
      }
      const low = avalanche(a + ((c << 9) | (c >>> 23)))
      const high = avalanche(b + ((d << 9) | (d >>> 23)))
      lo = (low + high) | 0
      hi = (high + Math.imul(lo, prime1)) | 0
      if (this.#blocks < room) {
        this.#loOut[this.#blocks] = lo
        this.#hiOut[this.#blocks] = hi
        this.#blocks++
      }
    }
    const hashed = blocks * blockBytes
    this.#scratch.copyWithin(0, hashed, this.#at)
    this.#lo = lo
    this.#hi = hi
    this.#at -= hashed
    this.#hashedBytes += hashed
  }
}

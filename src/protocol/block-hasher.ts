/** Chained 64-bit hashes over the blocks of a byte stream that is written piece by piece. */
import { type BlockChain, blockBytes, emptyChain } from '../core/block-chain.ts'
import { limits } from '../core/limits.ts'
import { setAsideOf, wholeText } from './text-scan/set-aside.ts'
import { reserveScanMemory, scanMemory, scanWords, textScan } from './text-scan/text-scan.ts'

const scratchBytes = 128 * 1024
/** Characters written at once: each takes three bytes of UTF-8 at most. */
const sliceChars = 32 * 1024
/** Below this a loop beats the call into the string encoder. */
const shortChars = 16

/** What a JSON text writes as an escape: quotes, backslashes, and all below the blank. */
const escaped = /["\\]|[^ -\uffff]/

/** Which characters a JSON text holds as themselves, in one byte. DEL may mark a stand-in. */
const plainCodes = new Uint8Array(128).map((_, code) =>
  code >= 0x20 && code !== 0x22 && code !== 0x5c && code !== 0x7f ? 1 : 0,
)

/** A stream's hash at some point: what `resume` needs to go on from there. */
export interface HasherState {
  readonly lo: number
  readonly hi: number
  /** Behind its last block, `lo` holds the bytes of the stream that make no whole block. */
  readonly chain: BlockChain
  readonly bytes: number
}

/**
 * Text is written as JSON has it, in UTF-8: the way in which most of it comes, so that long texts
 * are copied as they are. The byte 0xff never occurs in it; structure is written as 0xff and a tag,
 * so that no text can pass for structure. Strings go into one scratch buffer that is hashed when it
 * fills: large enough to amortise the calls, small enough to stay in the cache.
 */
export class BlockHasher {
  /** How far the scratch buffer is filled. */
  #at = 0
  /** Bytes hashed and gone from the scratch buffer. */
  #hashedBytes = 0
  #blocks = 0
  readonly #stateAt = reserveScanMemory(8)
  /** With room for the bytes behind the last block. */
  readonly #lowAt = reserveScanMemory(4 * limits.blocksPerPromptMax + blockBytes)
  readonly #highAt = reserveScanMemory(4 * limits.blocksPerPromptMax)
  readonly #scratchAt = reserveScanMemory(scratchBytes)
  readonly #scratch = scanMemory.subarray(this.#scratchAt, this.#scratchAt + scratchBytes)

  /** Begins a new stream; the seed separates streams that must never look alike. */
  start(seedLo: number, seedHi: number): void {
    scanWords[this.#stateAt / 4] = seedLo
    scanWords[this.#stateAt / 4 + 1] = seedHi
    this.#at = 0
    this.#hashedBytes = 0
    this.#blocks = 0
  }

  resume(state: HasherState): void {
    this.start(state.lo, state.hi)
    const { lo, hi, length } = state.chain
    scanWords.set(lo, this.#lowAt / 4)
    scanWords.set(hi, this.#highAt / 4)
    this.#blocks = length
    this.#at = state.bytes % blockBytes
    this.#hashedBytes = state.bytes - this.#at
    const tailAt = this.#lowAt + 4 * length
    scanMemory.copyWithin(this.#scratchAt, tailAt, tailAt + this.#at)
  }

  tag(tag: number): void {
    if (this.#at + 2 > scratchBytes) this.#hash()
    this.#scratch[this.#at++] = 0xff
    this.#scratch[this.#at++] = tag
  }

  text(text: string): void {
    const { length } = text
    if (length <= shortChars && this.#short(text, length)) return
    const aside = setAsideOf(text)
    if (aside === null) this.#plain(text)
    else if (aside.canonical) this.#copy(aside.start, aside.end)
    else this.#plain(wholeText(text))
  }

  #plain(text: string): void {
    const json = escaped.test(text) ? JSON.stringify(text).slice(1, -1) : text
    const { length } = json
    for (let from = 0; from < length; ) {
      let to = Math.min(from + sliceChars, length)
      // Both halves of a character beyond 16 bits go into one call.
      if (to < length && (json.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--
      if (this.#at + 3 * (to - from) > scratchBytes) this.#hash()
      const slice = to - from === length ? json : json.slice(from, to)
      this.#at += this.#scratch.write(slice, this.#at)
      from = to
    }
  }

  /** Bytes that stand in the scanner's memory. */
  #copy(start: number, end: number): void {
    for (let from = start; from < end; ) {
      if (this.#at === scratchBytes) this.#hash()
      const to = Math.min(end, from + scratchBytes - this.#at)
      scanMemory.copyWithin(this.#scratchAt + this.#at, from, to)
      this.#at += to - from
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
    const tailAt = this.#lowAt + 4 * this.#blocks
    scanMemory.copyWithin(tailAt, this.#scratchAt, this.#scratchAt + this.#at)
    const chain = this.#chain(Math.ceil(this.#at / 4))
    const [lo, hi] = this.#ends()
    return { lo, hi, chain, bytes: this.bytes }
  }

  /** The whole blocks written so far. */
  chain(): BlockChain {
    this.#hash()
    return this.#blocks === 0 ? emptyChain : this.#chain(0)
  }

  #chain(wordsBehind: number): BlockChain {
    const length = this.#blocks
    const low = this.#lowAt / 4
    const high = this.#highAt / 4
    const lo = scanWords.slice(low, low + length + wordsBehind)
    return { lo, hi: scanWords.slice(high, high + length), length }
  }

  /** The hash after the last whole block. */
  #ends(): [number, number] {
    const at = this.#stateAt / 4
    return [scanWords[at]!, scanWords[at + 1]!]
  }

  /** Hash of the whole stream, its tail included. The stream cannot go on behind it. */
  digest(): { lo: number; hi: number } {
    this.word(this.bytes)
    this.#hash()
    if (this.#at > 0) {
      this.#scratch.fill(0, this.#at, blockBytes)
      this.#at = blockBytes
      this.#hash()
    }
    const [lo, hi] = this.#ends()
    return { lo, hi }
  }

  #short(text: string, length: number): boolean {
    if (this.#at + shortChars > scratchBytes) this.#hash()
    const scratch = this.#scratch
    const at = this.#at
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      if (plainCodes[code] !== 1) return false
      scratch[at + i] = code
    }
    this.#at = at + length
    return true
  }

  /** Hashes the whole blocks in the scratch buffer and moves the tail to its head. */
  #hash(): void {
    const blocks = (this.#at / blockBytes) | 0
    if (blocks === 0) return
    const room = limits.blocksPerPromptMax - this.#blocks
    const low = this.#lowAt + 4 * this.#blocks
    const high = this.#highAt + 4 * this.#blocks
    textScan.hash(this.#scratchAt, blocks, this.#stateAt, low, high, room)
    this.#blocks += Math.min(blocks, room)
    const hashed = blocks * blockBytes
    this.#scratch.copyWithin(0, hashed, this.#at)
    this.#at -= hashed
    this.#hashedBytes += hashed
  }
}

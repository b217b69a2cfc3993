import type { BlockChain } from '../../core/block-chain.ts'

/**
 * The emulator's tokenizer: every four bytes of text are a token, which is about what real ones
 * give for English and code. A conversation that grows keeps the tokens of its beginning.
 */
const bytesPerToken = 4

export function tokenCount(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / bytesPerToken))
}

/** Bytes that stand for token ids, so that a prompt given as ids has exactly as many tokens. */
export function bytesOfTokens(ids: readonly number[]): Buffer {
  const bytes = Buffer.alloc(ids.length * bytesPerToken)
  for (let i = 0; i < ids.length; i++) bytes.writeUInt32LE(ids[i] >>> 0, i * bytesPerToken)
  return bytes
}

/** Token ids for `/tokenize`: any will do, as long as the same text gives the same ids. */
export function tokenIds(bytes: Buffer, vocabulary: number): number[] {
  const ids: number[] = []
  for (let at = 0; at < bytes.length; at += bytesPerToken) {
    ids.push(mix(0, word(bytes, at)) % vocabulary)
  }
  return ids
}

/** One hash of the whole text. */
export function textHash(bytes: Buffer): number {
  let hash = bytes.length
  for (let at = 0; at < bytes.length; at += 4) hash = mix(hash, word(bytes, at))
  return hash
}

/** The chained hashes of all whole blocks of `blockTokens` tokens. */
export function chainOfBytes(bytes: Buffer, blockTokens: number): BlockChain {
  const blockBytes = blockTokens * bytesPerToken
  const length = Math.floor(bytes.length / blockBytes)
  const lo = new Uint32Array(length)
  const hi = new Uint32Array(length)
  let low = 0x2545f491
  let high = 0x6c8e9cf5
  for (let block = 0; block < length; block++) {
    const end = (block + 1) * blockBytes
    for (let at = block * blockBytes; at < end; at += 4) {
      const value = word(bytes, at)
      low = mix(low, value)
      high = mix(high ^ low, value)
    }
    lo[block] = low
    hi[block] = high
  }
  return { lo, hi, length }
}

function word(bytes: Buffer, at: number): number {
  if (at + 4 <= bytes.length) return bytes.readInt32LE(at)
  let value = 0
  for (let i = at; i < bytes.length; i++) value |= bytes[i] << (8 * (i - at))
  return value
}

/** MurmurHash3's finaliser over the sum of state and input; unsigned. */
function mix(state: number, value: number): number {
  let h = (state ^ Math.imul(value, 0xcc9e2d51)) | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

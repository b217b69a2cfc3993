import type { BlockChain } from '../core/block-chain.ts'
import type { ChainText } from './decision-record.ts'

const blockTextBytes = 8

/** Bounds of what a writer, and its reader alike, remember of earlier chains. */
const bases = {
  sessionsMax: 10_000,
  /** 8 bytes each. */
  blocksMax: 2_097_152,
} as const

interface Base {
  readonly id: string
  readonly chain: BlockChain
}

/**
 * The last chain of each recent session, which the next one is written against. Writer and reader
 * run through the same calls and so forget the same sessions.
 */
export class ChainBases {
  readonly #bySession = new Map<string, Base>()
  #blocks = 0

  /** @throws when a base that the text names is not known, or the text is damaged */
  decode(session: string | null, text: ChainText): BlockChain {
    const base = session === null ? undefined : this.#bySession.get(session)
    if (text.base !== null && base?.id !== text.base) {
      throw new Error(`its chain builds on request ${text.base}, which is not in the log`)
    }
    const bytes = Buffer.from(text.rest, 'base64')
    if (bytes.length % blockTextBytes !== 0 || text.shared > (base?.chain.length ?? 0)) {
      throw new Error('its chain is damaged')
    }
    const length = text.shared + bytes.length / blockTextBytes
    const lo = new Uint32Array(length)
    const hi = new Uint32Array(length)
    if (base !== undefined) {
      lo.set(base.chain.lo.subarray(0, text.shared))
      hi.set(base.chain.hi.subarray(0, text.shared))
    }
    for (let i = text.shared, at = 0; i < length; i++, at += blockTextBytes) {
      lo[i] = bytes.readUInt32LE(at)
      hi[i] = bytes.readUInt32LE(at + 4)
    }
    return { lo, hi, length }
  }

  encode(session: string | null, chain: BlockChain): ChainText {
    const base = session === null ? undefined : this.#bySession.get(session)
    const shared = base === undefined ? 0 : sharedBlocks(base.chain, chain)
    const bytes = Buffer.allocUnsafe((chain.length - shared) * blockTextBytes)
    for (let i = shared, at = 0; i < chain.length; i++, at += blockTextBytes) {
      bytes.writeUInt32LE(chain.lo[i]!, at)
      bytes.writeUInt32LE(chain.hi[i]!, at + 4)
    }
    return {
      base: shared > 0 ? base!.id : null,
      shared,
      rest: bytes.toString('base64'),
    }
  }

  /** The chain stands in the log now, and later ones of its session may build on it. */
  remember(session: string | null, id: string, chain: BlockChain): void {
    if (session === null) return
    this.#forget(session)
    const { length } = chain
    const kept = { lo: chain.lo.slice(0, length), hi: chain.hi.slice(0, length), length }
    this.#bySession.set(session, { id, chain: kept })
    this.#blocks += length
    for (const oldest of this.#bySession.keys()) {
      const fits = this.#blocks <= bases.blocksMax && this.#bySession.size <= bases.sessionsMax
      if (fits) break
      this.#forget(oldest)
    }
  }

  clear(): void {
    this.#bySession.clear()
    this.#blocks = 0
  }

  #forget(session: string): void {
    this.#blocks -= this.#bySession.get(session)?.chain.length ?? 0
    this.#bySession.delete(session)
  }
}

/** Blocks that both chains begin with. Hashes are chained: equality at i means equality before. */
function sharedBlocks(a: BlockChain, b: BlockChain): number {
  let low = 0
  let high = Math.min(a.length, b.length)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (a.lo[middle] === b.lo[middle] && a.hi[middle] === b.hi[middle]) low = middle + 1
    else high = middle
  }
  return low
}

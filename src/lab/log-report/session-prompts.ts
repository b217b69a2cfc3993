import { type BlockChain, blockBytes } from '../../core/block-chain.ts'

/** 8 bytes each. */
const blocksMax = 4_194_304

/**
 * The last prompt of each session, as far as the memory goes: the sessions that were silent longest
 * are forgotten first.
 */
export class SessionPrompts {
  readonly #chains = new Map<string, BlockChain>()
  #blocks = 0

  /** Bytes that the prompt shares with the one before it in its session; null without one. */
  sharedBytes(session: string, chain: BlockChain): number | null {
    const before = this.#chains.get(session)
    this.#forget(session)
    this.#chains.set(session, chain)
    this.#blocks += chain.length
    for (const oldest of this.#chains.keys()) {
      if (this.#blocks <= blocksMax) break
      this.#forget(oldest)
    }
    return before === undefined ? null : sharedBlocks(before, chain) * blockBytes
  }

  #forget(session: string): void {
    const chain = this.#chains.get(session)
    if (chain === undefined) return
    this.#blocks -= chain.length
    this.#chains.delete(session)
  }
}

function sharedBlocks(a: BlockChain, b: BlockChain): number {
  const most = Math.min(a.length, b.length)
  let shared = 0
  while (shared < most && a.lo[shared] === b.lo[shared] && a.hi[shared] === b.hi[shared]) shared++
  return shared
}

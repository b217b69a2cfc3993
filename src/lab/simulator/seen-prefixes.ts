import type { BlockChain } from '../../core/block-chain.ts'
import { RunTree } from '../engine/run-tree.ts'
import { blockTokens } from '../workload/session.ts'

/** All that was ever sent or answered: the cache of an engine whose memory has no end. */
export class SeenPrefixes {
  readonly #tree = new RunTree()

  /**
   * Adds the whole blocks of the first `tokens` tokens. Returns the tokens of them that were there,
   * but the last one, which an engine always computes.
   */
  add(chain: BlockChain, tokens: number): number {
    const blocks = Math.min(chain.length, Math.floor(tokens / blockTokens))
    const match = this.#tree.match(chain, blocks)
    this.#tree.release(this.#tree.extend(this.#tree.acquire(match), chain, blocks))
    return Math.min(match.blocks, Math.floor((tokens - 1) / blockTokens)) * blockTokens
  }
}

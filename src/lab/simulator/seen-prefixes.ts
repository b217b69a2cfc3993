import type { BlockChain } from '../../core/block-chain.ts'
import { RunTree } from '../engine/run-tree.ts'
import { blockTokens } from '../workload/session.ts'

/** All that was ever sent or answered: the cache of an engine whose memory has no end. */
export class SeenPrefixes {
  readonly #tree = new RunTree()
  readonly #blockTokens: number

  constructor(tokensOfBlock = blockTokens) {
    this.#blockTokens = tokensOfBlock
  }

  /**
   * Adds the whole blocks of the first `tokens` tokens. Returns the tokens of them that were there,
   * but the last one, which an engine always computes.
   */
  add(chain: BlockChain, tokens: number): number {
    const blocks = Math.min(chain.length, Math.floor(tokens / this.#blockTokens))
    const match = this.#tree.match(chain, blocks)
    this.#tree.release(this.#tree.extend(this.#tree.acquire(match), chain, blocks))
    const reusable = Math.min(match.blocks, Math.floor((tokens - 1) / this.#blockTokens))
    return reusable * this.#blockTokens
  }
}

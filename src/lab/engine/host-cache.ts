import type { BlockChain } from '../../core/block-chain.ts'
import { type CacheListener, RunTree } from './run-tree.ts'

/**
 * The KV tier in host memory. Blocks are written through when they are computed, and a write
 * touches the whole context, so that the tier holds prefixes without gaps and ages by its own LRU.
 */
export class HostCache {
  readonly capacityBlocks: number
  readonly #tree: RunTree

  constructor(capacityBlocks: number, listener?: CacheListener) {
    this.capacityBlocks = capacityBlocks
    this.#tree = new RunTree(listener)
  }

  get usedBlocks(): number {
    return this.#tree.idleBlocks
  }

  /** Blocks of the chain's head, at most `blocksMax`, that are held. */
  matchBlocks(chain: BlockChain, blocksMax: number): number {
    return this.#tree.match(chain, blocksMax).blocks
  }

  /** Stores the first `blocks` of the chain, or as many of them as the tier has room for. */
  write(chain: BlockChain, blocks: number): void {
    const wanted = Math.min(blocks, this.capacityBlocks)
    if (wanted === 0) return
    const tree = this.#tree
    const match = tree.match(chain, wanted)
    const last = tree.acquire(match)
    const used = tree.heldBlocks + tree.idleBlocks
    const overflow = used + (wanted - match.blocks) - this.capacityBlocks
    if (overflow > 0) tree.evict(overflow)
    tree.release(tree.extend(last, chain, wanted))
  }
}

import type { BlockChain } from '../../core/block-chain.ts'
import type { TierMatch } from '../../core/prefix/prefix-index.ts'
import type { EngineModel } from '../engine/engine-model.ts'

/** What is known of one engine's cache. */
export interface CacheView {
  /** Leading blocks of the chain, by tier. Changes nothing. */
  match(chain: BlockChain): TierMatch
  readonly size: TierMatch
}

/** The cache itself. A look costs the same whatever the length of the prompt. */
export function trueView(engine: EngineModel): CacheView {
  return {
    match: (chain) => engine.cachedBlocks(chain),
    get size() {
      const { capacityBlocks, freeBlocks } = engine.pool
      return { gpuBlocks: capacityBlocks - freeBlocks, hostBlocks: engine.hostUsedBlocks }
    },
  }
}

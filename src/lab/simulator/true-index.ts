import type { BlockChain } from '../../core/block-chain.ts'
import type { PrefixIndex, TierMatch } from '../../core/prefix/prefix-index.ts'
import type { EngineModel } from '../engine/engine-model.ts'
import { OnTheWay } from './on-the-way.ts'

/**
 * Perfect information: the engines' own caches as they are at this instant, and what was sent to
 * them and is not computed yet. It costs a look into the engine's tree, whatever the prompt's size.
 */
export class TrueIndex implements PrefixIndex {
  readonly #engineOf: (slot: number) => EngineModel | undefined
  readonly #slots = new Map<number, OnTheWay>()

  constructor(engineOf: (slot: number) => EngineModel | undefined) {
    this.#engineOf = engineOf
  }

  add(slot: number): void {
    this.#slots.set(slot, new OnTheWay())
  }

  remove(slot: number): void {
    this.#slots.delete(slot)
  }

  resize(): void {}

  match(chain: BlockChain, slots: readonly number[], out: TierMatch[]): void {
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!
      const cached = this.#engineOf(slot)?.cachedBlocks(chain) ?? { gpuBlocks: 0, hostBlocks: 0 }
      const coming = this.#slots.get(slot)?.match(chain) ?? 0
      const gpuBlocks = Math.max(cached.gpuBlocks, coming)
      out[i] = {
        gpuBlocks,
        hostBlocks: Math.max(0, cached.gpuBlocks + cached.hostBlocks - gpuBlocks),
      }
    }
  }

  insert(slot: number, chain: BlockChain): void {
    this.#slots.get(slot)?.add(chain)
  }

  confirm(slot: number, chain: BlockChain): void {
    this.#slots.get(slot)?.take(chain)
  }

  withdraw(slot: number, chain: BlockChain): void {
    this.#slots.get(slot)?.take(chain)
  }

  /** The engine's cache is what it is. */
  truncate(): void {}

  size(slot: number): TierMatch {
    const engine = this.#engineOf(slot)
    if (engine === undefined) return { gpuBlocks: 0, hostBlocks: 0 }
    const { capacityBlocks, freeBlocks } = engine.pool
    return { gpuBlocks: capacityBlocks - freeBlocks, hostBlocks: engine.hostUsedBlocks }
  }
}

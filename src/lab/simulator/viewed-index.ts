import type { BlockChain } from '../../core/block-chain.ts'
import type { PrefixIndex, TierMatch } from '../../core/prefix/prefix-index.ts'
import type { CacheView } from './cache-view.ts'
import { OnTheWay } from './on-the-way.ts'

interface Slot {
  readonly cache: CacheView
  readonly coming: OnTheWay
}

/** The index of a router that looks into the engines' caches, and remembers what it sent. */
export class ViewedIndex implements PrefixIndex {
  readonly #cacheOf: (slot: number) => CacheView
  readonly #slots = new Map<number, Slot>()

  /** @param cacheOf the engine's that a slot was just given to */
  constructor(cacheOf: (slot: number) => CacheView) {
    this.#cacheOf = cacheOf
  }

  add(slot: number): void {
    this.#slots.set(slot, { cache: this.#cacheOf(slot), coming: new OnTheWay() })
  }

  remove(slot: number): void {
    this.#slots.delete(slot)
  }

  /** An engine's cache has the size that it has. */
  resize(): void {}

  match(chain: BlockChain, slots: readonly number[], out: TierMatch[]): void {
    for (let i = 0; i < slots.length; i++) {
      const match = out[i]!
      const slot = this.#slots.get(slots[i]!)
      const cached = slot?.cache.match(chain)
      const gpuBlocks = cached?.gpuBlocks ?? 0
      match.gpuBlocks = Math.max(gpuBlocks, slot?.coming.match(chain) ?? 0)
      match.hostBlocks = Math.max(0, gpuBlocks + (cached?.hostBlocks ?? 0) - match.gpuBlocks)
    }
  }

  insert(slot: number, chain: BlockChain): void {
    this.#slots.get(slot)?.coming.add(chain)
  }

  confirm(slot: number, chain: BlockChain): void {
    this.#slots.get(slot)?.coming.take(chain)
  }

  withdraw(slot: number, chain: BlockChain): void {
    this.#slots.get(slot)?.coming.take(chain)
  }

  /** And it holds what it holds. */
  truncate(): void {}

  size(slot: number): TierMatch {
    return this.#slots.get(slot)?.cache.size ?? { gpuBlocks: 0, hostBlocks: 0 }
  }
}

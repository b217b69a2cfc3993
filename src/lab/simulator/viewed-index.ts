import type { BlockChain } from '../../core/block-chain.ts'
import type { PrefixIndex, TierMatch } from '../../core/prefix/prefix-index.ts'
import type { CacheView } from './cache-view.ts'
import { OnTheWay } from './on-the-way.ts'

const nothing: TierMatch = { gpuBlocks: 0, hostBlocks: 0 }

/** The index of a router that looks into the engines' caches, and remembers what it sent. */
export class ViewedIndex implements PrefixIndex {
  readonly #viewOf: (slot: number) => CacheView | undefined
  readonly #slots = new Map<number, OnTheWay>()

  constructor(viewOf: (slot: number) => CacheView | undefined) {
    this.#viewOf = viewOf
  }

  add(slot: number): void {
    this.#slots.set(slot, new OnTheWay())
  }

  remove(slot: number): void {
    this.#slots.delete(slot)
  }

  /** An engine's cache has the size that it has. */
  resize(): void {}

  match(chain: BlockChain, slots: readonly number[], out: TierMatch[]): void {
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!
      const cached = this.#viewOf(slot)?.match(chain) ?? nothing
      const gpuBlocks = Math.max(cached.gpuBlocks, this.#slots.get(slot)?.match(chain) ?? 0)
      const hostBlocks = Math.max(0, cached.gpuBlocks + cached.hostBlocks - gpuBlocks)
      out[i] = { gpuBlocks, hostBlocks }
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

  /** And it holds what it holds. */
  truncate(): void {}

  size(slot: number): TierMatch {
    return this.#viewOf(slot)?.size ?? nothing
  }
}

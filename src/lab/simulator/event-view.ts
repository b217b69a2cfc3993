import type { Random } from '../../base/random.ts'
import type { Clock } from '../../base/scheduler.ts'
import type { BlockChain } from '../../core/block-chain.ts'
import type { TierMatch } from '../../core/prefix/prefix-index.ts'
import type { CacheListener } from '../engine/run-tree.ts'
import type { CacheView } from './cache-view.ts'
import type { EngineEvents } from './information.ts'

interface CacheEvent {
  readonly dueMs: number
  readonly tier: Set<number>
  readonly stored: boolean
  readonly chain: BlockChain
  readonly start: number
  readonly end: number
}

/** A copy of an engine's cache, made by its events: behind by a delay, wrong where one is lost. */
export class EventView implements CacheView {
  readonly #events: EngineEvents
  readonly #clock: Clock
  readonly #random: Random
  readonly #gpu = new Set<number>()
  readonly #host = new Set<number>()
  /** In the order in which they fall due, since all are delayed alike. */
  #coming: CacheEvent[] = []

  constructor(events: EngineEvents, clock: Clock, random: Random) {
    this.#events = events
    this.#clock = clock
    this.#random = random
  }

  get gpuListener(): CacheListener {
    return this.#listener(this.#gpu)
  }

  get hostListener(): CacheListener {
    return this.#listener(this.#host)
  }

  match(chain: BlockChain): TierMatch {
    this.#catchUp()
    const gpuBlocks = this.#depth(chain, 0, (key) => this.#gpu.has(key))
    const both = this.#depth(chain, gpuBlocks, (key) => this.#host.has(key) || this.#gpu.has(key))
    return { gpuBlocks, hostBlocks: both - gpuBlocks }
  }

  get size(): TierMatch {
    this.#catchUp()
    return { gpuBlocks: this.#gpu.size, hostBlocks: this.#host.size }
  }

  #listener(tier: Set<number>): CacheListener {
    const hear = (stored: boolean, chain: BlockChain, start: number, end: number): void => {
      const { delayMs, lossShare } = this.#events
      if (lossShare > 0 && this.#random.next() < lossShare) return
      const dueMs = this.#clock.nowMs() + delayMs
      this.#coming.push({ dueMs, tier, stored, chain, start, end })
    }
    return {
      stored: (chain, start, end) => hear(true, chain, start, end),
      removed: (chain, start, end) => hear(false, chain, start, end),
    }
  }

  #catchUp(): void {
    const nowMs = this.#clock.nowMs()
    const later = this.#coming.findIndex(({ dueMs }) => dueMs > nowMs)
    const due = later < 0 ? this.#coming : this.#coming.slice(0, later)
    this.#coming = later < 0 ? [] : this.#coming.slice(later)
    for (const { tier, stored, chain, start, end } of due) {
      for (let block = start; block < end; block++) {
        if (stored) tier.add(blockKey(chain, block))
        else tier.delete(blockKey(chain, block))
      }
    }
  }

  /**
   * The first block from `from` on that is not there. Without losses what is there has no gaps, and
   * bisection will do.
   */
  #depth(chain: BlockChain, from: number, has: (key: number) => boolean): number {
    const held = (block: number): boolean => has(blockKey(chain, block))
    if (this.#events.lossShare > 0) {
      let block = from
      while (block < chain.length && held(block)) block++
      return block
    }
    let low = from
    let high = chain.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (held(middle)) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** 52 of the 64 bits of a block's hash: what a number holds exactly. */
function blockKey(chain: BlockChain, block: number): number {
  return (chain.hi[block]! % 0x100000) * 0x100000000 + chain.lo[block]!
}

import { assert } from '../../base/assert.ts'
import type { BlockChain } from '../../core/block-chain.ts'
import { type CacheListener, type PrefixMatch, type Run, RunTree } from './run-tree.ts'

/** The blocks of one sequence: a cached path, and behind it blocks that nobody can share. */
export interface SequenceBlocks {
  /** The run that the cached part of the context ends with. */
  run: Run
  /** Blocks behind it: computed but not cached yet, half full, or without a hash. */
  privateBlocks: number
}

/**
 * The engine's KV memory. Every block is free, private to a sequence, held (cached and in use) or
 * idle (cached, evictable), and the four always add up to the capacity.
 */
export class KvPool {
  readonly capacityBlocks: number
  readonly #tree: RunTree
  #freeBlocks: number
  #privateBlocks = 0

  constructor(capacityBlocks: number, listener?: CacheListener) {
    this.capacityBlocks = capacityBlocks
    this.#freeBlocks = capacityBlocks
    this.#tree = new RunTree(listener)
  }

  /** The context of no blocks. */
  get root(): Run {
    return this.#tree.root
  }

  get freeBlocks(): number {
    return this.#freeBlocks
  }

  get privateBlocks(): number {
    return this.#privateBlocks
  }

  get heldBlocks(): number {
    return this.#tree.heldBlocks
  }

  get idleBlocks(): number {
    return this.#tree.idleBlocks
  }

  /** Blocks that a sequence could get now: the free ones and those that can be evicted. */
  get availableBlocks(): number {
    return this.#freeBlocks + this.#tree.idleBlocks
  }

  /** Blocks that sequences use. */
  get usedBlocks(): number {
    return this.capacityBlocks - this.availableBlocks
  }

  /** The share of the memory that sequences use, 0 to 1, as engines report it. */
  get usage(): number {
    return this.usedBlocks / this.capacityBlocks
  }

  match(chain: BlockChain, blocksMax: number): PrefixMatch {
    return this.#tree.match(chain, blocksMax)
  }

  /** Starts a sequence on a cached prefix; returns the run that it ends with. */
  acquire(match: PrefixMatch): Run {
    return this.#tree.acquire(match)
  }

  /** Gives a sequence more private blocks; the caller has checked `availableBlocks`. */
  grow(of: SequenceBlocks, blocks: number): void {
    const missing = blocks - this.#freeBlocks
    if (missing > 0) {
      const evicted = this.#tree.evict(missing)
      assert(evicted === missing, 'blocks are given out only where they are available')
      this.#freeBlocks += evicted
    }
    this.#freeBlocks -= blocks
    this.#privateBlocks += blocks
    of.privateBlocks += blocks
  }

  /** Makes a sequence's blocks up to `end` shareable; duplicates of cached blocks become free. */
  commit(of: SequenceBlocks, chain: BlockChain, end: number): void {
    const blocks = end - of.run.end
    if (blocks <= 0) return
    assert(blocks <= of.privateBlocks, 'only blocks that the sequence has are committed')
    const before = this.#tree.heldBlocks + this.#tree.idleBlocks
    of.run = this.#tree.extend(of.run, chain, end)
    const cached = this.#tree.heldBlocks + this.#tree.idleBlocks - before
    of.privateBlocks -= blocks
    this.#privateBlocks -= blocks
    this.#freeBlocks += blocks - cached
  }

  /** Takes all blocks from a sequence. The cached ones stay until they are evicted. */
  release(of: SequenceBlocks): void {
    this.#tree.release(of.run)
    of.run = this.#tree.root
    this.#freeBlocks += of.privateBlocks
    this.#privateBlocks -= of.privateBlocks
    of.privateBlocks = 0
  }
}

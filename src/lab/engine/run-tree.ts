import { assert } from '../../base/assert.ts'
import type { BlockChain } from '../../core/block-chain.ts'
import { emptyChain } from '../../core/block-chain.ts'

/**
 * A stretch of cached blocks that were always used together: blocks `start` to `end` of `chain`.
 * Because a hash stands for everything before it, a run needs no copy of its hashes, and two chains
 * are compared by bisection instead of block by block.
 */
export class Run {
  chain: BlockChain
  start: number
  end: number
  parent: Run | undefined
  children: Map<number, Run> | undefined
  /** Sequences whose context holds the whole run. */
  refs = 0
  /** Neighbours in the list of idle runs. */
  older: Run | undefined
  newer: Run | undefined

  constructor(chain: BlockChain, start: number, end: number, parent: Run | undefined) {
    this.chain = chain
    this.start = start
    this.end = end
    this.parent = parent
  }
}

/** The longest cached prefix of a chain. */
export interface PrefixMatch {
  /** Whole blocks matched. */
  blocks: number
  /** The last run that matched, with `blocks` inside it or at its end. */
  run: Run
  /** Matched blocks that no sequence holds: they cannot be evicted for the one that asks. */
  idleBlocks: number
}

/** Told of every block that enters or leaves a cache, as ranges of a chain. */
export interface CacheListener {
  stored(chain: BlockChain, start: number, end: number): void
  removed(chain: BlockChain, start: number, end: number): void
}

const childKey = (chain: BlockChain, block: number): number =>
  chain.lo[block] + (chain.hi[block] & 0x1fffff) * 4294967296

/** Blocks of `run` that `chain` shares, looking no further than block `limit`. */
function sharedBlocks(run: Run, chain: BlockChain, limit: number): number {
  const a = run.chain
  const same = (block: number): boolean =>
    a.lo[block] === chain.lo[block] && a.hi[block] === chain.hi[block]
  const end = Math.min(run.end, limit)
  if (end <= run.start) return 0
  if (same(end - 1)) return end - run.start
  // Invariant of the bisection: all blocks before `low` are shared, block `high` is not.
  let low = run.start
  let high = end - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (same(middle)) low = middle + 1
    else high = middle
  }
  return low - run.start
}

/**
 * A prefix cache of reference-counted blocks with LRU eviction, leaves first, as vLLM's block pool
 * behaves, but held as a tree of runs: its cost is per turn of a conversation, not per block.
 *
 * Why the two agree: a sequence frees its blocks tail first, so vLLM's free queue never has a block
 * behind its descendants; here a released path enters the idle list deepest run first, and a run
 * gives up blocks from its end.
 */
export class RunTree {
  readonly #root = new Run(emptyChain, 0, 0, undefined)
  readonly #idle = new Run(emptyChain, 0, 0, undefined)
  readonly #listener: CacheListener | undefined
  #heldBlocks = 0
  #idleBlocks = 0

  constructor(listener?: CacheListener) {
    this.#listener = listener
    this.#idle.older = this.#idle
    this.#idle.newer = this.#idle
  }

  /** Blocks in the context of at least one sequence. */
  get heldBlocks(): number {
    return this.#heldBlocks
  }

  /** Cached blocks that nothing holds; they can be evicted. */
  get idleBlocks(): number {
    return this.#idleBlocks
  }

  /** The empty context, from which every path starts. */
  get root(): Run {
    return this.#root
  }

  /** Finds the longest cached prefix of at most `blocksMax` blocks. Changes nothing. */
  match(chain: BlockChain, blocksMax: number): PrefixMatch {
    const limit = Math.min(blocksMax, chain.length)
    const found: PrefixMatch = { blocks: 0, run: this.#root, idleBlocks: 0 }
    while (found.blocks < limit) {
      const child: Run | undefined = found.run.children?.get(childKey(chain, found.blocks))
      if (child === undefined) break
      const shared = sharedBlocks(child, chain, limit)
      if (shared === 0) break
      found.run = child
      found.blocks += shared
      if (child.refs === 0) found.idleBlocks += shared
      if (found.blocks < child.end) break
    }
    return found
  }

  /** Puts a sequence on a matched prefix; returns the run that its context ends with. */
  acquire(match: PrefixMatch): Run {
    const last = this.#cut(match.run, match.blocks)
    for (let run = last; run.parent !== undefined; run = run.parent) this.#hold(run)
    return last
  }

  /**
   * Adds blocks `run.end` to `end` of the chain to the context of a sequence that ends with `run`.
   * Blocks that are cached already are shared. Returns the run that the context ends with now.
   */
  extend(run: Run, chain: BlockChain, end: number): Run {
    assert(end <= chain.length, 'a context is extended only by blocks that have a hash')
    let last = run
    while (last.end < end) {
      const child = last.children?.get(childKey(chain, last.end))
      const shared = child === undefined ? 0 : sharedBlocks(child, chain, end)
      if (child === undefined || shared === 0) return this.#append(last, chain, end)
      last = this.#cut(child, child.start + shared)
      this.#hold(last)
    }
    return last
  }

  /** Takes a sequence off its context. What nobody holds any more stays cached until evicted. */
  release(last: Run): void {
    for (let run = last; run.parent !== undefined; run = run.parent) {
      run.refs -= 1
      assert(run.refs >= 0, 'a run is released as often as it is held')
      if (run.refs > 0) continue
      this.#heldBlocks -= run.end - run.start
      this.#idleBlocks += run.end - run.start
      this.#enqueue(run)
    }
  }

  /** Evicts idle blocks, least recently used and leaves first. Returns how many it could. */
  evict(blocks: number): number {
    let left = blocks
    while (left > 0 && this.#idleBlocks > 0) {
      const run = this.#idle.newer as Run
      assert(run.children === undefined, 'a run is evicted after its descendants')
      const gone = Math.min(left, run.end - run.start)
      left -= gone
      run.end -= gone
      this.#idleBlocks -= gone
      this.#listener?.removed(run.chain, run.end, run.end + gone)
      if (run.end === run.start) this.#drop(run)
    }
    return blocks - left
  }

  /** Splits `run` so that one ends at block `end`, and returns that one. */
  #cut(run: Run, end: number): Run {
    if (end === run.end) return run
    const parent = run.parent as Run
    // The head is the new object: sequences point at the run that their context ends with.
    const head = new Run(run.chain, run.start, end, parent)
    head.refs = run.refs
    parent.children?.set(childKey(head.chain, head.start), head)
    run.start = end
    run.parent = head
    head.children = new Map([[childKey(run.chain, end), run]])
    if (run.refs === 0) this.#insertNewer(run, head)
    return head
  }

  #append(last: Run, chain: BlockChain, end: number): Run {
    const start = last.end
    this.#heldBlocks += end - start
    this.#listener?.stored(chain, start, end)
    if (last.refs === 1 && last.children === undefined && last.parent !== undefined) {
      // Nobody else has used this run, so all of it ages together: no second run is needed.
      last.chain = chain
      last.end = end
      return last
    }
    const child = new Run(chain, start, end, last)
    child.refs = 1
    last.children ??= new Map()
    last.children.set(childKey(chain, start), child)
    return child
  }

  #hold(run: Run): void {
    if (run.refs === 0) {
      this.#dequeue(run)
      this.#idleBlocks -= run.end - run.start
      this.#heldBlocks += run.end - run.start
    }
    run.refs += 1
  }

  #drop(run: Run): void {
    this.#dequeue(run)
    const parent = run.parent as Run
    const siblings = parent.children as Map<number, Run>
    siblings.delete(childKey(run.chain, run.start))
    if (siblings.size === 0) parent.children = undefined
  }

  #enqueue(run: Run): void {
    this.#insertNewer(this.#idle.older as Run, run)
  }

  #insertNewer(place: Run, run: Run): void {
    run.older = place
    run.newer = place.newer
    ;(place.newer as Run).older = run
    place.newer = run
  }

  #dequeue(run: Run): void {
    ;(run.older as Run).newer = run.newer
    ;(run.newer as Run).older = run.older
    run.older = undefined
    run.newer = undefined
  }
}

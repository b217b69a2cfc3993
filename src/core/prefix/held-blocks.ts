/**
 * What one endpoint instance is believed to hold: two tiers, each least recently used first out.
 *
 * Three invariants carry everything:
 * - A held block's parent is held. So the depth to which a chain is held is a binary search.
 * - A GPU block's parent is in GPU memory.
 * - Within a tier a block is more recent than its children, because a chain is touched from its
 *   tip to its head. So the oldest block is always a leaf, and eviction never cuts a chain.
 *
 * A block is pending while requests that will compute it are on their way, and firm once one of
 * them has. Eviction does not ask: it is a belief about memory, and a block that was evicted before
 * its `confirm` or `withdraw` is simply not there to be changed any more.
 */
import type { BlockChain } from '../block-chain.ts'
import { limits } from '../limits.ts'
import { type BlockNode, BlockTable, rootNode } from './block-table.ts'
import type { TierMatch } from './prefix-index.ts'

export class HeldBlocks {
  readonly #table = new BlockTable()
  #gpuMax = 0
  #hostMax = 0
  #gpu = 0
  #host = 0

  constructor(gpuBlocksMax: number, hostBlocksMax: number) {
    this.resize(gpuBlocksMax, hostBlocksMax)
  }

  get size(): TierMatch {
    return { gpuBlocks: this.#gpu, hostBlocks: this.#host }
  }

  get allocated(): number {
    return this.#table.allocated
  }

  get bytes(): number {
    return this.#table.bytes
  }

  resize(gpuBlocksMax: number, hostBlocksMax: number): void {
    this.#gpuMax = Math.min(gpuBlocksMax, limits.blocksPerEndpointMax)
    this.#hostMax = Math.min(hostBlocksMax, limits.blocksPerEndpointMax)
    // First, because without a host tier a GPU block may only go once its children have.
    this.#trimHost()
    this.#makeRoom(0)
  }

  match(chain: BlockChain, out: TierMatch): void {
    const depth = this.#depth(chain, chain.length)
    const gpuBlocks = this.#host === 0 ? depth : this.#gpuDepth(chain, depth)
    out.gpuBlocks = gpuBlocks
    out.hostBlocks = depth - gpuBlocks
  }

  /** A chain longer than GPU memory keeps its head: no engine could hold more of it. */
  insert(chain: BlockChain): void {
    const table = this.#table
    const length = Math.min(chain.length, this.#gpuMax)
    const depth = this.#depth(chain, length)
    let tip = this.#tip(chain, depth)
    for (let node = tip; node !== rootNode; node = table.parent(node)) {
      if (table.inHost(node)) {
        this.#host--
        this.#gpu++
      }
      table.touch(node)
      table.addPending(node)
    }
    this.#makeRoom(0)
    for (let i = depth; i < length; i++) {
      this.#makeRoom(1)
      tip = table.add(tip, chain.lo[i]!, chain.hi[i]!)
      this.#gpu++
    }
  }

  confirm(chain: BlockChain): void {
    const table = this.#table
    const tip = this.#tip(chain, this.#depth(chain, chain.length))
    for (let node = tip; node !== rootNode; node = table.parent(node)) {
      table.takePending(node)
      table.makeFirm(node)
    }
  }

  withdraw(chain: BlockChain): void {
    const table = this.#table
    let tip = this.#tip(chain, this.#depth(chain, chain.length))
    for (let node = tip; node !== rootNode; node = table.parent(node)) table.takePending(node)
    while (tip !== rootNode && table.unwarranted(tip) && table.firstChild(tip) === rootNode) {
      const above = table.parent(tip)
      this.#drop(tip)
      tip = above
    }
  }

  /** Takes the first block that is not held after all, and with it all that continues it. */
  truncate(chain: BlockChain, blocks: number): void {
    if (blocks >= chain.length) return
    const table = this.#table
    const top = table.find(chain.lo[blocks]!, chain.hi[blocks]!)
    if (top === rootNode) return
    const end = table.parent(top)
    let node = top
    while (node !== end) {
      const child = table.firstChild(node)
      if (child !== rootNode) {
        node = child
        continue
      }
      const above = table.parent(node)
      this.#drop(node)
      node = above
    }
  }

  /** Leading blocks held in either tier, `within` at most. */
  #depth(chain: BlockChain, within: number): number {
    const { lo, hi } = chain
    const table = this.#table
    // Most endpoints hold nothing of most prompts.
    if (within === 0 || table.find(lo[0]!, hi[0]!) === rootNode) return 0
    let held = 1
    let missing = within + 1
    while (missing - held > 1) {
      const middle = (held + missing) >>> 1
      if (table.find(lo[middle - 1]!, hi[middle - 1]!) === rootNode) missing = middle
      else held = middle
    }
    return held
  }

  /** Leading blocks in GPU memory, of `depth` that are held. */
  #gpuDepth(chain: BlockChain, depth: number): number {
    const { lo, hi } = chain
    const table = this.#table
    let inGpu = 0
    let behind = depth + 1
    while (behind - inGpu > 1) {
      const middle = (inGpu + behind) >>> 1
      if (table.inHost(table.find(lo[middle - 1]!, hi[middle - 1]!))) behind = middle
      else inGpu = middle
    }
    return inGpu
  }

  #tip(chain: BlockChain, depth: number): BlockNode {
    return depth === 0 ? rootNode : this.#table.find(chain.lo[depth - 1]!, chain.hi[depth - 1]!)
  }

  /** Evicts until `blocks` more fit into GPU memory, and the host tier is within its bound. */
  #makeRoom(blocks: number): void {
    const table = this.#table
    while (this.#gpu + blocks > this.#gpuMax && this.#gpu > 0) {
      const node = table.oldestInGpu()
      if (this.#hostMax === 0) {
        this.#drop(node)
        continue
      }
      table.demote(node)
      this.#gpu--
      this.#host++
    }
    this.#trimHost()
  }

  #trimHost(): void {
    while (this.#host > this.#hostMax) this.#drop(this.#table.oldestInHost())
  }

  #drop(node: BlockNode): void {
    if (this.#table.inHost(node)) this.#host--
    else this.#gpu--
    this.#table.remove(node)
  }
}

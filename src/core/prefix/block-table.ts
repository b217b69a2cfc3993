/**
 * A forest of blocks in flat memory: found by hash, linked to parent and children, and ordered by
 * recency in one list per tier. It knows structure only; what is kept and for how long is decided
 * in held-blocks.ts.
 *
 * All fields of a node lie side by side (40 bytes), because following a chain touches most of them
 * and a cache miss costs more than everything else here. Nodes are named by their offset. Growth by
 * a quarter keeps nodes and buckets together within 63 bytes a block.
 */
import { assert } from '../../base/assert.ts'

/** Offset of a node in the table. */
export type BlockNode = number

/** The empty prefix: parent of every first block, and head of the GPU tier's recency list. */
export const rootNode: BlockNode = 0

const stride = 10
/** Head of the host tier's recency list. */
const hostHead: BlockNode = stride
const firstFree = 2 * stride

const keyLo = 0
const keyHi = 1
const bucketNext = 2
const parent = 3
const firstChild = 4
const nextSibling = 5
const previousSibling = 6
/** Neighbours in the recency list. A head's `older` is the newest block, its `newer` the oldest. */
const newer = 7
const older = 8
const state = 9

const hostBit = 1
const firmBit = 2
/** What one more pending request adds to `state`; the count fills the bits above the flags. */
const pendingUnit = 4

const nodesMin = 64
const growth = 1.25

export class BlockTable {
  #nodes = new Int32Array((nodesMin + 2) * stride)
  /** First node of each bucket, 0 for none; a power of two in length, at least one per node. */
  #buckets = new Int32Array(nodesMin)
  #bucketShift = 32 - Math.log2(nodesMin)
  /** Everything from here on was never used. */
  #fresh = firstFree
  /** Freed nodes, chained through `bucketNext`. */
  #freed: BlockNode = 0
  #freedCount = 0

  constructor() {
    for (const head of [rootNode, hostHead]) {
      this.#nodes[head + newer] = head
      this.#nodes[head + older] = head
    }
  }

  /** Nodes in use, counted by allocation and not by what is linked. */
  get allocated(): number {
    return (this.#fresh - firstFree) / stride - this.#freedCount
  }

  get bytes(): number {
    return this.#nodes.byteLength + this.#buckets.byteLength
  }

  /** The block with this hash; `rootNode` when there is none. */
  find(lo: number, hi: number): BlockNode {
    const nodes = this.#nodes
    const signedLo = lo | 0
    const signedHi = hi | 0
    let node = this.#buckets[this.#bucketOf(signedLo, signedHi)]!
    while (node !== 0) {
      if (nodes[node + keyLo] === signedLo && nodes[node + keyHi] === signedHi) return node
      node = nodes[node + bucketNext]!
    }
    return rootNode
  }

  /** A new child of `above` in the GPU tier, pending once, next older than it. */
  add(above: BlockNode, lo: number, hi: number): BlockNode {
    const node = this.#allocate()
    const nodes = this.#nodes
    nodes[node + keyLo] = lo
    nodes[node + keyHi] = hi
    nodes[node + state] = pendingUnit
    const bucket = this.#bucketOf(lo | 0, hi | 0)
    nodes[node + bucketNext] = this.#buckets[bucket]!
    this.#buckets[bucket] = node
    const sibling = nodes[above + firstChild]!
    nodes[node + parent] = above
    nodes[node + firstChild] = 0
    nodes[node + nextSibling] = sibling
    nodes[node + previousSibling] = 0
    if (sibling !== 0) nodes[sibling + previousSibling] = node
    nodes[above + firstChild] = node
    this.#linkBehind(above, node)
    return node
  }

  /** Takes out a block without children. */
  remove(node: BlockNode): void {
    const nodes = this.#nodes
    assert(nodes[node + firstChild] === 0, 'a cached block goes after its children')
    const next = nodes[node + nextSibling]!
    const previous = nodes[node + previousSibling]!
    if (next !== 0) nodes[next + previousSibling] = previous
    if (previous !== 0) nodes[previous + nextSibling] = next
    else nodes[nodes[node + parent]! + firstChild] = next
    this.#unlink(node)
    this.#removeFromBucket(node)
    nodes[node + bucketNext] = this.#freed
    this.#freed = node
    this.#freedCount++
  }

  parent(node: BlockNode): BlockNode {
    return this.#nodes[node + parent]!
  }

  /** Some child; `rootNode` when there is none. */
  firstChild(node: BlockNode): BlockNode {
    return this.#nodes[node + firstChild]!
  }

  /** Makes a block the most recent one of the GPU tier. */
  touch(node: BlockNode): void {
    this.#unlink(node)
    this.#nodes[node + state] = this.#nodes[node + state]! & ~hostBit
    this.#linkBehind(rootNode, node)
  }

  /** Makes a block the most recent one of the host tier. */
  demote(node: BlockNode): void {
    this.#unlink(node)
    this.#nodes[node + state] = this.#nodes[node + state]! | hostBit
    this.#linkBehind(hostHead, node)
  }

  oldestInGpu(): BlockNode {
    return this.#nodes[rootNode + newer]!
  }

  oldestInHost(): BlockNode {
    return this.#nodes[hostHead + newer]!
  }

  inHost(node: BlockNode): boolean {
    return (this.#nodes[node + state]! & hostBit) !== 0
  }

  /** Whether nobody vouches for the block: it was never confirmed, and no request is on its way. */
  unwarranted(node: BlockNode): boolean {
    return (this.#nodes[node + state]! & ~hostBit) === 0
  }

  addPending(node: BlockNode): void {
    this.#nodes[node + state] = this.#nodes[node + state]! + pendingUnit
  }

  takePending(node: BlockNode): void {
    const before = this.#nodes[node + state]!
    if (before >= pendingUnit) this.#nodes[node + state] = before - pendingUnit
  }

  makeFirm(node: BlockNode): void {
    this.#nodes[node + state] = this.#nodes[node + state]! | firmBit
  }

  /** Multiplicative hashing: the top bits depend on all bits of both halves. */
  #bucketOf(lo: number, hi: number): number {
    return Math.imul(lo ^ Math.imul(hi, 0x85ebca6b), 0x9e3779b1) >>> this.#bucketShift
  }

  #linkBehind(front: BlockNode, node: BlockNode): void {
    const nodes = this.#nodes
    const behind = nodes[front + older]!
    nodes[node + newer] = front
    nodes[node + older] = behind
    nodes[front + older] = node
    nodes[behind + newer] = node
  }

  #unlink(node: BlockNode): void {
    const nodes = this.#nodes
    const before = nodes[node + newer]!
    const behind = nodes[node + older]!
    nodes[before + older] = behind
    nodes[behind + newer] = before
  }

  #removeFromBucket(node: BlockNode): void {
    const nodes = this.#nodes
    const bucket = this.#bucketOf(nodes[node + keyLo]!, nodes[node + keyHi]!)
    const next = nodes[node + bucketNext]!
    let other = this.#buckets[bucket]!
    if (other === node) {
      this.#buckets[bucket] = next
      return
    }
    while (nodes[other + bucketNext] !== node) other = nodes[other + bucketNext]!
    nodes[other + bucketNext] = next
  }

  #allocate(): BlockNode {
    if (this.#freed !== 0) {
      const node = this.#freed
      this.#freed = this.#nodes[node + bucketNext]!
      this.#freedCount--
      return node
    }
    if (this.#fresh === this.#nodes.length) this.#grow()
    const node = this.#fresh
    this.#fresh += stride
    return node
  }

  #grow(): void {
    const count = Math.ceil((this.#nodes.length / stride) * growth)
    const nodes = new Int32Array(count * stride)
    nodes.set(this.#nodes)
    this.#nodes = nodes
    if (count <= this.#buckets.length) return
    const before = this.#buckets
    this.#buckets = new Int32Array(before.length * 2)
    this.#bucketShift--
    for (const first of before) {
      let node = first
      while (node !== 0) {
        const next = nodes[node + bucketNext]!
        const bucket = this.#bucketOf(nodes[node + keyLo]!, nodes[node + keyHi]!)
        nodes[node + bucketNext] = this.#buckets[bucket]!
        this.#buckets[bucket] = node
        node = next
      }
    }
  }
}

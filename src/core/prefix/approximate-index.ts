/** The prefix index that serves: what each endpoint holds, by our own routing, in flat memory. */
import { assert } from '../../base/assert.ts'
import type { BlockChain } from '../block-chain.ts'
import { HeldBlocks } from './held-blocks.ts'
import type { PrefixIndex, TierMatch } from './prefix-index.ts'

/**
 * One table per instance, so that removing it is complete and costs nothing, and a block shared by
 * everybody is no different from any other. `match` costs a binary search per slot; the other
 * calls are linear in the chain.
 *
 * An instance may be gone before its requests are: calls for a slot that is not there change
 * nothing, and match nothing.
 */
export class ApproximateIndex implements PrefixIndex {
  readonly #slots = new Map<number, HeldBlocks>()

  add(slot: number, gpuBlocksMax: number, hostBlocksMax: number): void {
    assert(!this.#slots.has(slot), `slot ${slot} is in use`)
    this.#slots.set(slot, new HeldBlocks(gpuBlocksMax, hostBlocksMax))
  }

  remove(slot: number): void {
    this.#slots.delete(slot)
  }

  resize(slot: number, gpuBlocksMax: number, hostBlocksMax: number): void {
    this.#slots.get(slot)?.resize(gpuBlocksMax, hostBlocksMax)
  }

  match(chain: BlockChain, slots: readonly number[], out: TierMatch[]): void {
    for (let i = 0; i < slots.length; i++) {
      const held = this.#slots.get(slots[i]!)
      if (out[i] === undefined) out[i] = { gpuBlocks: 0, hostBlocks: 0 }
      if (held !== undefined) {
        held.match(chain, out[i]!)
      } else {
        out[i]!.gpuBlocks = 0
        out[i]!.hostBlocks = 0
      }
    }
  }

  insert(slot: number, chain: BlockChain): void {
    this.#slots.get(slot)?.insert(chain)
  }

  confirm(slot: number, chain: BlockChain): void {
    this.#slots.get(slot)?.confirm(chain)
  }

  withdraw(slot: number, chain: BlockChain): void {
    this.#slots.get(slot)?.withdraw(chain)
  }

  truncate(slot: number, chain: BlockChain, blocks: number): void {
    this.#slots.get(slot)?.truncate(chain, blocks)
  }

  size(slot: number): TierMatch {
    return this.#slots.get(slot)?.size ?? { gpuBlocks: 0, hostBlocks: 0 }
  }

  /** Blocks allocated over all slots: equals the sum of their sizes, or memory leaks. */
  get allocatedBlocks(): number {
    let sum = 0
    for (const held of this.#slots.values()) sum += held.allocated
    return sum
  }

  /** Memory reserved over all slots. */
  get bytes(): number {
    let sum = 0
    for (const held of this.#slots.values()) sum += held.bytes
    return sum
  }
}

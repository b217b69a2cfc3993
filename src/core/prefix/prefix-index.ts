/** What each endpoint is believed to hold in its KV cache. */
import type { BlockChain } from '../block-chain.ts'

/** Whole blocks at the head of a prompt that an endpoint holds, by the tier they lie in. */
export interface TierMatch {
  /** Blocks in GPU memory, from block 0 on, without a gap. */
  gpuBlocks: number
  /** Blocks behind those that are held in the host tier (or lie behind a host block). */
  hostBlocks: number
}

/**
 * One endpoint's share of the index. `slot` is a small integer that the fleet gives to an
 * endpoint's *instance*; it is free again after `remove`.
 *
 * The life of an entry: `insert` at dispatch makes blocks *pending* (the prefill may yet fail),
 * `confirm` at the first token makes them firm, `withdraw` after a failure before prefill takes
 * those away that no other request vouches for.
 */
export interface PrefixIndex {
  /** Starts an empty instance. Capacities in blocks; 0 host blocks is "no host tier". */
  add(slot: number, gpuBlocksMax: number, hostBlocksMax: number): void
  /** Forgets the instance and all that it held. */
  remove(slot: number): void
  /** Changes the capacities; what no longer fits is evicted, least recently used first. */
  resize(slot: number, gpuBlocksMax: number, hostBlocksMax: number): void
  /** Writes into `out[i]` what `slots[i]` holds of the chain. Changes nothing. */
  match(chain: BlockChain, slots: readonly number[], out: TierMatch[]): void
  /** Records that the slot will hold the chain (host blocks come back to the GPU). */
  insert(slot: number, chain: BlockChain): void
  /** The prefill of an inserted chain is done. */
  confirm(slot: number, chain: BlockChain): void
  /** An inserted chain was never computed. */
  withdraw(slot: number, chain: BlockChain): void
  /** The engine turned out not to hold the chain behind `blocks`: forget the rest of it. */
  truncate(slot: number, chain: BlockChain, blocks: number): void
  /** Blocks held, by tier. */
  size(slot: number): TierMatch
}

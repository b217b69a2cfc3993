import type { BlockChain } from '../../core/block-chain.ts'
import { type Run, RunTree } from '../engine/run-tree.ts'

/**
 * What a router knows without being told: prompts that it sent and whose prefill is not done yet.
 * The engine will have computed them before a later prompt that shares them begins.
 */
export class OnTheWay {
  readonly #tree = new RunTree()
  readonly #runs = new Map<BlockChain, Run>()

  add(chain: BlockChain): void {
    if (this.#runs.has(chain)) return
    const last = this.#tree.acquire(this.#tree.match(chain, chain.length))
    this.#runs.set(chain, this.#tree.extend(last, chain, chain.length))
  }

  take(chain: BlockChain): void {
    const run = this.#runs.get(chain)
    if (run === undefined) return
    this.#runs.delete(chain)
    this.#tree.release(run)
    this.#tree.evict(this.#tree.idleBlocks)
  }

  /** Leading blocks of the chain that are on their way. */
  match(chain: BlockChain): number {
    return this.#runs.size === 0 ? 0 : this.#tree.match(chain, chain.length).blocks
  }
}

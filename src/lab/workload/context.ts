/** A growing context and its block hashes: what makes prompts share prefixes in the lab. */
import type { Random } from '../../base/random.ts'
import type { BlockChain } from '../../core/block-chain.ts'
import { blockTokens } from './session.ts'

/**
 * Appends tokens; a block gets its hash when the first token falls into it, and keeps it. Chains
 * handed out earlier stay valid, since blocks are only ever added.
 */
export class GrowingContext {
  readonly #random: Random
  #lo: Uint32Array
  #hi: Uint32Array
  #blocks = 0
  tokens = 0

  constructor(random: Random, tokensExpected = 4_096) {
    this.#random = random
    const capacity = Math.max(4, Math.ceil(tokensExpected / blockTokens))
    this.#lo = new Uint32Array(capacity)
    this.#hi = new Uint32Array(capacity)
  }

  /**
   * A context that begins with the whole blocks of another, or of its first `tokens`, and then goes
   * its own way.
   */
  static after(
    shared: GrowingContext,
    random: Random,
    tokensExpected: number,
    tokens = shared.tokens,
  ): GrowingContext {
    const context = new GrowingContext(random, tokens + tokensExpected)
    const whole = Math.floor(tokens / blockTokens)
    context.#lo.set(shared.#lo.subarray(0, whole))
    context.#hi.set(shared.#hi.subarray(0, whole))
    context.#blocks = whole
    context.tokens = whole * blockTokens
    return context
  }

  append(tokens: number): void {
    this.tokens += tokens
    const blocks = Math.ceil(this.tokens / blockTokens)
    if (blocks > this.#lo.length) this.#grow(Math.max(blocks, this.#lo.length * 2))
    for (; this.#blocks < blocks; this.#blocks++) {
      this.#lo[this.#blocks] = this.#random.next() * 4294967296
      this.#hi[this.#blocks] = this.#random.next() * 4294967296
    }
  }

  /** The whole blocks so far. */
  chain(): BlockChain {
    return { lo: this.#lo, hi: this.#hi, length: Math.floor(this.tokens / blockTokens) }
  }

  #grow(capacity: number): void {
    const lo = new Uint32Array(capacity)
    const hi = new Uint32Array(capacity)
    lo.set(this.#lo)
    hi.set(this.#hi)
    this.#lo = lo
    this.#hi = hi
  }
}

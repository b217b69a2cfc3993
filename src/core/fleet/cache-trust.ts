/**
 * How far the prefix index may be believed for one endpoint: each belief about cached tokens is
 * held against what the engine reported.
 *
 * Two things can be wrong. Engines that evict what the index thinks is there have less room than
 * the index reckons with; then the believed capacity shrinks, and grows again when an engine
 * turns out to hold more than was believed. The right capacity is where as much is missed as is
 * found unexpectedly. Whatever else is wrong shows as a lower share of the expected hits.
 */

const rules = {
  /** Fewer tokens say more about block edges than about the belief. */
  tokensMin: 512,
  /** Weight of one outcome in the share. */
  weight: 0.1,
  /** Outcomes in a row with nothing cached where much was believed: the cache was emptied. */
  emptyOutcomesMax: 3,
  /**
   * By so much the capacity grows when all was unexpected, and shrinks when all is missed. A find
   * has one explanation; a miss may also be due to what ran while the prompt waited.
   */
  capacityGrowth: 0.05,
  capacityShrinkage: 0.02,
  /** Weight of a complete miss as evidence that all that is believed held does not fit. */
  heldWeight: 0.1,
  capacityFactorMin: 0.05,
} as const

export interface CacheOutcome {
  /** Tokens that the index believed cached, before the share was taken off. */
  readonly matchedTokens: number
  readonly reportedTokens: number
  /** Everything that the index believes held there, as a share of the nominal capacity. */
  readonly heldShare: number
}

export type CacheFinding = 'as believed' | 'cache emptied'

export class CacheTrust {
  /** Expected reported tokens per believed token, 0 to 1. */
  share = 1
  /** Believed share of the nominal capacity that survives between two uses. */
  capacityFactor = 1
  /** Outcomes compared so far. */
  outcomes = 0
  #emptyOutcomes = 0

  compared({ matchedTokens, reportedTokens, heldShare }: CacheOutcome): CacheFinding {
    const more = Math.max(matchedTokens, reportedTokens)
    if (more < rules.tokensMin) return 'as believed'
    this.#judgeCapacity((reportedTokens - matchedTokens) / more, heldShare)
    if (matchedTokens < rules.tokensMin) return 'as believed'
    this.outcomes++
    this.share += rules.weight * (Math.min(1, reportedTokens / matchedTokens) - this.share)
    this.#emptyOutcomes = reportedTokens === 0 ? this.#emptyOutcomes + 1 : 0
    if (this.#emptyOutcomes < rules.emptyOutcomesMax) return 'as believed'
    this.#emptyOutcomes = 0
    return 'cache emptied'
  }

  /** @param surprise -1 when all that was believed is missing, 1 when all was unexpected */
  #judgeCapacity(surprise: number, heldShare: number): void {
    let factor = this.capacityFactor
    // What is missing was pushed out by less than is believed held.
    if (surprise < 0 && heldShare < factor) {
      factor += rules.heldWeight * -surprise * (heldShare - factor)
    }
    const gain = surprise < 0 ? rules.capacityShrinkage : rules.capacityGrowth
    factor *= 1 + gain * surprise
    this.capacityFactor = Math.min(1, Math.max(rules.capacityFactorMin, factor))
  }
}

/**
 * How far the prefix index may be believed for one endpoint: cached tokens that the engine reported
 * over cached tokens that were predicted. Each prediction is held against its outcome; where the
 * belief fails, expected hits shrink with it instead of silently misrouting.
 */

const rules = {
  /** Predictions below this say more about block edges than about the belief. */
  predictedTokensMin: 512,
  /** Weight of one outcome. */
  weight: 0.1,
  /** Outcomes in a row with nothing cached where much was predicted: the cache was emptied. */
  emptyOutcomesMax: 3,
  /** Believed capacity shrinks and grows by these factors. */
  shrink: 0.9,
  grow: 1.02,
  capacityFactorMin: 0.05,
} as const

export type CacheFinding = 'as predicted' | 'less than predicted' | 'cache emptied'

export class CacheTrust {
  /** Expected reported tokens per predicted token, 0 to 1. */
  share = 1
  /** Believed share of the nominal capacity that survives between two uses. */
  capacityFactor = 1
  /** Outcomes compared so far. */
  outcomes = 0
  #emptyOutcomes = 0

  /** @param nearlyFull whether the index of that endpoint was close to its capacity */
  compared(predictedTokens: number, reportedTokens: number, nearlyFull: boolean): CacheFinding {
    if (predictedTokens < rules.predictedTokensMin) return 'as predicted'
    this.outcomes++
    const share = Math.min(1, reportedTokens / predictedTokens)
    this.share += rules.weight * (share - this.share)
    if (share >= 0.5) {
      this.#emptyOutcomes = 0
      if (nearlyFull) this.capacityFactor = Math.min(1, this.capacityFactor * rules.grow)
      return 'as predicted'
    }
    const shrunk = this.capacityFactor * rules.shrink
    this.capacityFactor = Math.max(rules.capacityFactorMin, shrunk)
    this.#emptyOutcomes = reportedTokens === 0 ? this.#emptyOutcomes + 1 : 0
    if (this.#emptyOutcomes < rules.emptyOutcomesMax) return 'less than predicted'
    this.#emptyOutcomes = 0
    return 'cache emptied'
  }
}

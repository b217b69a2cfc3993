/** Predicted against actual time to first token: the error to publish, and whether to trust it. */

/** Weight of the newest outcome. */
const gain = 0.1
/** Not trusted while predictions are off by more than this factor on average. */
const distrustFactor = 3
const trustFactor = 2
const outcomesToJudge = 5

export class PredictionError {
  #logError = 0
  #trusted = true

  /** Predictions held against their outcomes. */
  outcomes = 0
  /** Recent mean of |predicted − actual| / actual. */
  relative = 0

  observe(predictedMs: number, actualMs: number): void {
    if (!(predictedMs > 0) || !(actualMs > 0) || !Number.isFinite(predictedMs + actualMs)) return
    this.outcomes++
    // The first outcomes are averaged evenly.
    const weight = Math.max(gain, 1 / this.outcomes)
    this.relative += weight * (Math.abs(predictedMs - actualMs) / actualMs - this.relative)
    this.#logError += weight * (Math.abs(Math.log(predictedMs / actualMs)) - this.#logError)
    if (this.outcomes < outcomesToJudge) return
    if (this.#logError > Math.log(distrustFactor)) this.#trusted = false
    else if (this.#logError < Math.log(trustFactor)) this.#trusted = true
  }

  /**
   * Whether predictions have lately been near enough to decide by: false beyond a factor of three
   * on average, in either direction, and true again below two.
   */
  get trusted(): boolean {
    return this.#trusted
  }
}

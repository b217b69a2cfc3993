/**
 * A mean in which an observation counts half after `halfLifeMs`. It may start from a prior that
 * counts as `priorWeight` observations and never ages, so the mean returns to it in a long silence.
 * Reading it for any time changes nothing.
 */
export class Ewma {
  readonly #halfLifeMs: number
  readonly #prior: number
  readonly #priorWeight: number
  #sum = 0
  #weight = 0
  #atMs = Number.NEGATIVE_INFINITY
  #samples = 0

  constructor(halfLifeMs: number, prior = 0, priorWeight = 0) {
    this.#halfLifeMs = halfLifeMs
    this.#prior = prior
    this.#priorWeight = priorWeight
  }

  /** Observations so far, whatever their age. */
  get samples(): number {
    return this.#samples
  }

  /** An observation older than the last one counts as if it were made with it. */
  observe(atMs: number, value: number, weight = 1): void {
    const kept = this.#decay(atMs)
    this.#sum = this.#sum * kept + value * weight
    this.#weight = this.#weight * kept + weight
    this.#atMs = Math.max(this.#atMs, atMs)
    this.#samples++
  }

  /** The mean as seen at `nowMs`; the prior while nothing was observed. */
  at(nowMs: number): number {
    if (this.#samples === 0) return this.#prior
    // Without a prior the mean does not depend on the age of what it rests on.
    if (this.#priorWeight === 0) return this.#sum / this.#weight
    const kept = this.#decay(nowMs)
    const weight = this.#priorWeight + this.#weight * kept
    return (this.#prior * this.#priorWeight + this.#sum * kept) / weight
  }

  #decay(atMs: number): number {
    if (this.#samples === 0) return 0
    return 0.5 ** (Math.max(0, atMs - this.#atMs) / this.#halfLifeMs)
  }
}

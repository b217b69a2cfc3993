/**
 * Arrivals per ms, as a count that halves every `halfLifeMs`: a burst counts as what it is over
 * that time, not as if it went on at its own pace.
 */
export class ArrivalRate {
  readonly #halfLifeMs: number
  #count = 0
  #atMs = Number.NEGATIVE_INFINITY

  constructor(halfLifeMs: number) {
    this.#halfLifeMs = halfLifeMs
  }

  observe(atMs: number): void {
    this.#count = this.#countAt(atMs) + 1
    this.#atMs = Math.max(atMs, this.#atMs)
  }

  /** A steady rate λ settles at the count λ·halfLife / ln 2. */
  at(nowMs: number): number {
    return (this.#countAt(nowMs) * Math.LN2) / this.#halfLifeMs
  }

  #countAt(nowMs: number): number {
    if (this.#count === 0) return 0
    return this.#count * 0.5 ** (Math.max(0, nowMs - this.#atMs) / this.#halfLifeMs)
  }
}

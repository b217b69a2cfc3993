/**
 * How often work arrives, for a future of a given length. A past as long as that future tells: a
 * burst of ten requests says much about the next seconds and little about the next minutes.
 */

/** Memories kept: an arrival counts half in each after this time. */
const halfLivesMs = [10_000, 60_000, 360_000] as const

export class ArrivalRate {
  /** Arrivals, each counted less the older it is, per half-life. */
  readonly #counts = new Float64Array(halfLivesMs.length)
  #atMs = Number.NEGATIVE_INFINITY

  observe(atMs: number): void {
    const nowMs = Math.max(atMs, this.#atMs)
    for (let i = 0; i < halfLivesMs.length; i++) {
      this.#counts[i] = this.#counts[i]! * this.#kept(nowMs, i) + 1
    }
    this.#atMs = nowMs
  }

  /**
   * Arrivals per ms to expect over the next `horizonMs`, from the memory whose half-life is as
   * long. Between two of them logarithms are interpolated: of a burst as many are expected over a
   * longer future as over a shorter one.
   */
  at(nowMs: number, horizonMs: number): number {
    let longer = 0
    while (longer < halfLivesMs.length && halfLivesMs[longer]! < horizonMs) longer++
    if (longer === 0) return this.#rate(nowMs, 0)
    if (longer === halfLivesMs.length) return this.#rate(nowMs, longer - 1)
    const shorterMs = halfLivesMs[longer - 1]!
    const share = Math.log(horizonMs / shorterMs) / Math.log(halfLivesMs[longer]! / shorterMs)
    return this.#rate(nowMs, longer - 1) ** (1 - share) * this.#rate(nowMs, longer) ** share
  }

  /** A steady rate λ settles at the count λ·halfLife / ln 2. */
  #rate(nowMs: number, i: number): number {
    return (this.#counts[i]! * this.#kept(nowMs, i) * Math.LN2) / halfLivesMs[i]!
  }

  #kept(nowMs: number, i: number): number {
    return 0.5 ** (Math.max(0, nowMs - this.#atMs) / halfLivesMs[i]!)
  }
}

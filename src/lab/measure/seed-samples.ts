import { sumOf } from './spread.ts'

/** How often each seed counts. */
export type SeedWeights = ArrayLike<number>

/**
 * Samples of several seeds in one order, so that quantiles over any choice of seeds cost one walk.
 * Quantiles are of the raw samples together, never means of quantiles.
 */
export class SeedSamples {
  readonly #values: Float64Array
  readonly #seeds: Uint16Array
  readonly #counts: readonly number[]

  constructor(bySeed: readonly (readonly number[])[]) {
    this.#counts = bySeed.map((samples) => samples.length)
    const all = sumOf(this.#counts)
    const values = new Float64Array(all)
    const seeds = new Uint16Array(all)
    let at = 0
    for (const [seed, samples] of bySeed.entries()) {
      values.set(samples, at)
      seeds.fill(seed, at, at + samples.length)
      at += samples.length
    }
    const order = Uint32Array.from({ length: all }, (_, i) => i)
    order.sort((a, b) => values[a]! - values[b]!)
    this.#values = Float64Array.from(order, (i) => values[i]!)
    this.#seeds = Uint16Array.from(order, (i) => seeds[i]!)
  }

  /** The quantile (type 7, as everywhere) with each seed counted so often; NaN without samples. */
  quantile(p: number, weights: SeedWeights): number {
    let count = 0
    for (let seed = 0; seed < this.#counts.length; seed++) {
      count += this.#counts[seed]! * (weights[seed] ?? 0)
    }
    if (count === 0) return Number.NaN
    const place = p * (count - 1)
    const below = Math.floor(place)
    let seen = 0
    let low = Number.NaN
    for (let i = 0; i < this.#values.length; i++) {
      const weight = weights[this.#seeds[i]!]!
      if (weight === 0) continue
      seen += weight
      if (seen > below && Number.isNaN(low)) low = this.#values[i]!
      if (seen > Math.ceil(place)) return low + (this.#values[i]! - low) * (place - below)
    }
    return low
  }

  mean(weights: SeedWeights): number {
    let sum = 0
    let count = 0
    for (let i = 0; i < this.#values.length; i++) {
      const weight = weights[this.#seeds[i]!]!
      sum += weight * this.#values[i]!
      count += weight
    }
    return sum / count
  }
}

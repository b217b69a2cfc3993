import { quantileOf, type Spread } from './spread.ts'

/** Samples that are kept as they are, before buckets take over. */
const rawMax = 10_000
/** Quantiles out of buckets are off by this share of their value at most. */
export const sketchError = 0.005

const growth = (1 + sketchError) / (1 - sketchError)
const perLog = 1 / Math.log(growth)
/** Smaller values count as this: 1 µs, where they are ms. */
const least = 1e-3
const bucketCount = Math.ceil(Math.log(1e12) * perLog)

/**
 * Quantiles of any number of samples in bounded memory: exact up to 10,000 samples, then from
 * logarithmic buckets with a relative error of 0.5 % (DDSketch: Masson, Rim and Lee 2019). Two
 * sketches added to each other are the sketch of all their samples. Values are not negative.
 */
export class QuantileSketch {
  #raw: number[] | null = []
  #sorted = false
  #buckets: Float64Array | null = null
  #count = 0
  #sum = 0
  #min = Number.POSITIVE_INFINITY
  #max = Number.NEGATIVE_INFINITY

  get count(): number {
    return this.#count
  }

  get sum(): number {
    return this.#sum
  }

  add(value: number, times = 1): void {
    if (times === 0) return
    this.#count += times
    this.#sum += value * times
    if (value < this.#min) this.#min = value
    if (value > this.#max) this.#max = value
    if (this.#raw !== null && this.#raw.length + times <= rawMax) {
      for (let i = 0; i < times; i++) this.#raw.push(value)
      this.#sorted = false
      return
    }
    this.#toBuckets()[bucketOf(value)]! += times
  }

  /** Adds all samples of another, each so many times. */
  merge(other: QuantileSketch, times = 1): void {
    if (other.#raw !== null) {
      for (const value of other.#raw) this.add(value, times)
      return
    }
    if (times === 0 || other.#count === 0) return
    const buckets = this.#toBuckets()
    other.#buckets!.forEach((count, i) => {
      buckets[i]! += count * times
    })
    this.#count += other.#count * times
    this.#sum += other.#sum * times
    this.#min = Math.min(this.#min, other.#min)
    this.#max = Math.max(this.#max, other.#max)
  }

  /** NaN where there are no samples. */
  quantile(p: number): number {
    if (this.#count === 0) return Number.NaN
    if (this.#raw !== null) {
      if (!this.#sorted) this.#raw.sort((a, b) => a - b)
      this.#sorted = true
      return quantileOf(this.#raw, p)
    }
    const rank = p * (this.#count - 1)
    if (rank >= this.#count - 1) return this.#max
    let seen = 0
    for (let i = 0; i < bucketCount; i++) {
      seen += this.#buckets![i]!
      if (seen > rank) return Math.min(this.#max, Math.max(this.#min, bucketValue(i)))
    }
    return this.#max
  }

  spread(): Spread {
    const none = this.#count === 0
    const at = (p: number): number | null => (none ? null : this.quantile(p))
    return {
      count: this.#count,
      mean: none ? null : this.#sum / this.#count,
      p50: at(0.5),
      p90: at(0.9),
      p99: at(0.99),
      max: none ? null : this.#max,
    }
  }

  /** Evenly spaced quantiles, for a drawing of the distribution; the samples where they are few. */
  outline(points: number): number[] {
    if (this.#count <= points && this.#raw !== null) return [...this.#raw].sort((a, b) => a - b)
    return Array.from({ length: points }, (_, i) => this.quantile(i / (points - 1)))
  }

  #toBuckets(): Float64Array {
    if (this.#buckets !== null) return this.#buckets
    const buckets = new Float64Array(bucketCount)
    for (const value of this.#raw!) buckets[bucketOf(value)]! += 1
    this.#raw = null
    this.#buckets = buckets
    return buckets
  }
}

function bucketOf(value: number): number {
  if (!(value > least)) return 0
  return Math.min(bucketCount - 1, Math.ceil(Math.log(value / least) * perLog))
}

/** The value that is within the error of all values of the bucket. */
function bucketValue(bucket: number): number {
  return bucket === 0 ? 0 : (2 * least * growth ** bucket) / (growth + 1)
}

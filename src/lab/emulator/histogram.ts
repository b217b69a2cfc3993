/** Bucket bounds in vLLM's 1-2-5 series, up to the longest context. */
export function tokenBuckets(tokensMax: number): number[] {
  const bounds: number[] = []
  for (let decade = 1; ; decade *= 10) {
    for (const mantissa of [1, 2, 5]) {
      if (mantissa * decade > tokensMax) return bounds
      bounds.push(mantissa * decade)
    }
  }
}

/** A Prometheus histogram with fixed buckets. */
export class Histogram {
  readonly bounds: readonly number[]
  readonly #counts: number[]
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.#counts = new Array(bounds.length + 1).fill(0)
  }

  observe(value: number): void {
    let bucket = 0
    while (bucket < this.bounds.length && value > this.bounds[bucket]) bucket += 1
    this.#counts[bucket] += 1
    this.#sum += value
  }

  get sum(): number {
    return this.#sum
  }

  /** Observations at or below each bound, the last for all of them. */
  cumulative(): number[] {
    let total = 0
    return this.#counts.map((count) => {
      total += count
      return total
    })
  }
}

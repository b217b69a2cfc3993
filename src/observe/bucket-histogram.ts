import type { Sample } from './tally.ts'

/**
 * One histogram series. Ours and not prom-client's, whose `observe` hashes its labels each time and
 * costs 0.2 µs: too much for something done once per token of every stream.
 */
export class BucketHistogram {
  readonly #bounds: readonly number[]
  readonly #counts: Float64Array
  #sum = 0
  #count = 0

  /** @param bounds upper bounds, ascending; `+Inf` is implied */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  get count(): number {
    return this.#count
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let i = 0
    while (i < bounds.length && value > bounds[i]!) i++
    this.#counts[i]! += 1
    this.#sum += value
    this.#count++
  }

  /** Cumulative, as Prometheus wants them; nothing before the first observation. */
  samples(name: string, labels: Readonly<Record<string, string>>): Sample[] {
    if (this.#count === 0) return []
    let below = 0
    const samples: Sample[] = this.#bounds.map((bound, i) => {
      below += this.#counts[i]!
      return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below }
    })
    samples.push(
      { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: this.#count },
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: this.#count },
    )
    return samples
  }
}

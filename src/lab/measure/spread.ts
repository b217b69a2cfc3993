/** Where samples lie. All null where there are none. */
export interface Spread {
  readonly count: number
  readonly mean: number | null
  readonly p50: number | null
  readonly p90: number | null
  readonly p99: number | null
  readonly max: number | null
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = Float64Array.from(samples).sort()
  const at = (p: number): number | null => (sorted.length === 0 ? null : quantileOf(sorted, p))
  return {
    count: sorted.length,
    mean: sorted.length === 0 ? null : sumOf(sorted) / sorted.length,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max: at(1),
  }
}

/**
 * The quantile of sorted samples, interpolated between the two nearest (Hyndman and Fan's type 7,
 * the default of numpy and R). NaN where there are none.
 */
export function quantileOf(sorted: ArrayLike<number>, p: number): number {
  const place = p * (sorted.length - 1)
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

export function sumOf(values: Iterable<number>): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

/** A published figure and the same of a simulation. */
export interface Pair {
  readonly published: number
  readonly simulated: number
}

/** The error in throughput that an experiment may have. */
export const errorShareMax = 0.15

/** By how much the simulated figure differs, as a share of the published one. */
export function errorShare({ published, simulated }: Pair): number {
  return simulated / published - 1
}

export function isWithin(pair: Pair): boolean {
  return Math.abs(errorShare(pair)) <= errorShareMax
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length
}

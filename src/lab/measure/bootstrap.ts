import { type Random, randomInt } from '../../base/random.ts'
import type { SeedWeights } from './seed-samples.ts'
import { quantileOf } from './spread.ts'

/** An estimate with its 95 % interval; the bounds are null where one seed alone says nothing. */
export interface Interval {
  readonly value: number
  readonly low: number | null
  readonly high: number | null
}

const resamples = 1_000

/**
 * Draws for a percentile bootstrap over seeds: seeds are the independent runs, requests of one run
 * are not. Both sides of a comparison take the same draws, so that their differences are paired.
 * None where one seed alone says nothing.
 */
export function seedDraws(seeds: number, random: Random): SeedWeights[] {
  if (seeds < 2) return []
  return Array.from({ length: resamples }, () => {
    const weights = new Uint16Array(seeds)
    for (let n = 0; n < seeds; n++) weights[randomInt(random, seeds)]!++
    return weights
  })
}

/** @param drawn the statistic for each draw */
export function intervalOf(value: number, drawn: readonly number[]): Interval {
  if (drawn.length === 0) return { value, low: null, high: null }
  const sorted = Float64Array.from(drawn).sort()
  return { value, low: quantileOf(sorted, 0.025), high: quantileOf(sorted, 0.975) }
}

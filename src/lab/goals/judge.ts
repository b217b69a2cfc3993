/** A claim held against what was measured. */
import { seededRandom } from '../../base/random.ts'
import { type Interval, intervalOf, seedDraws } from '../measure/bootstrap.ts'
import type { Metric } from '../measure/compare.ts'
import type { MeasuredRun } from '../measure/measure-run.ts'
import type { SeedWeights } from '../measure/seed-samples.ts'
import type { Bounds } from './goal.ts'

/**
 * `met`: the whole 95 % interval meets the number. `not shown`: the figure does, and its interval
 * reaches beyond. `missed`: the figure does not.
 */
export type Outcome = 'met' | 'not shown' | 'missed'

/** One seed has no interval, and shows nothing. */
export function outcomeOf({ value, low, high }: Interval, bounds: Bounds): Outcome {
  const { atLeast = -Infinity, atMost = Infinity } = bounds
  if (!(value >= atLeast && value <= atMost)) return 'missed'
  return low !== null && high !== null && low >= atLeast && high <= atMost ? 'met' : 'not shown'
}

/**
 * The figure of some runs, one a seed, with its bootstrap interval over the seeds; with `base` its
 * ratio to the figure of those runs, paired by seed.
 */
export function measured(
  metric: Metric,
  runs: readonly MeasuredRun[],
  base?: readonly MeasuredRun[],
): Interval {
  const ours = metric.of(runs)
  const theirs = base === undefined ? () => 1 : metric.of(base)
  const at = (weights: SeedWeights): number => ours(weights) / theirs(weights)
  const draws = seedDraws(runs.length, seededRandom(1))
  return intervalOf(at(onceEach(runs)), draws.map(at))
}

/** Over all the runs, each once. */
export function figureOf(metric: Metric, runs: readonly MeasuredRun[]): number {
  return metric.of(runs)(onceEach(runs))
}

function onceEach(runs: readonly MeasuredRun[]): Uint16Array {
  return new Uint16Array(runs.length).fill(1)
}

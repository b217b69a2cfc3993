/** A claim held against what was measured. */
import { seededRandom } from '../../base/random.ts'
import { type Interval, intervalOf, seedDraws } from '../measure/bootstrap.ts'
import type { Metric } from '../measure/compare.ts'
import type { MeasuredRun } from '../measure/measure-run.ts'
import type { SeedWeights } from '../measure/seed-samples.ts'
import { sumOf } from '../measure/spread.ts'
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

type Runs = readonly MeasuredRun[]

/**
 * The figure of some runs, one a seed, with its bootstrap interval over the seeds; with `base` its
 * ratio to the figure of those runs, paired by seed.
 */
export function measured(metric: Metric, runs: Runs, base?: Runs): Interval {
  return measuredAcross(metric, [runs], base === undefined ? null : [base])
}

/** The same of the mean over several points, each with the same seeds. */
export function measuredAcross(
  metric: Metric,
  points: readonly Runs[],
  base: readonly Runs[] | null,
): Interval {
  const ours = meanOf(metric, points)
  const theirs = base === null ? () => 1 : meanOf(metric, base)
  const at = (weights: SeedWeights): number => ours(weights) / theirs(weights)
  const [runs] = points
  const draws = seedDraws(runs!.length, seededRandom(1))
  return intervalOf(at(onceEach(runs!)), draws.map(at))
}

function meanOf(metric: Metric, points: readonly Runs[]): (weights: SeedWeights) => number {
  const figures = points.map((runs) => metric.of(runs))
  return (weights) => sumOf(figures.map((figure) => figure(weights))) / figures.length
}

/** Over all the runs, each once. */
export function figureOf(metric: Metric, runs: Runs): number {
  return metric.of(runs)(onceEach(runs))
}

function onceEach(runs: Runs): Uint16Array {
  return new Uint16Array(runs.length).fill(1)
}

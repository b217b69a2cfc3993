/** Arms beside each other: figures over all seeds, and what each gains on the first, paired. */
import { seededRandom } from '../../base/random.ts'
import { type Interval, intervalOf, seedDraws } from './bootstrap.ts'
import type { MeasuredRun, RunFigures, RunSamples } from './measure-run.ts'
import { SeedSamples, type SeedWeights } from './seed-samples.ts'
import { sumOf } from './spread.ts'

/** One arm's runs, one a seed, in the same order of seeds for all arms. */
export interface ArmRuns {
  readonly name: string
  readonly runs: readonly MeasuredRun[]
}

/** One number of a run, or a quantile of its samples: what is compared. */
export interface Metric {
  readonly name: string
  /** Whether more of it is better. */
  readonly moreIsBetter: boolean
  readonly of: (runs: readonly MeasuredRun[]) => (weights: SeedWeights) => number
}

export interface ArmComparison {
  readonly name: string
  /** Over all seeds, in the order of the metrics. */
  readonly values: readonly number[]
  /** Each value over that of the first arm, with its interval; null for the first itself. */
  readonly ratios: readonly Interval[] | null
  /** Each value less that of the first arm. */
  readonly differences: readonly Interval[] | null
}

/** Mean over the seeds. */
export function meanMetric(
  name: string,
  moreIsBetter: boolean,
  of: (figures: RunFigures) => number | null,
): Metric {
  return {
    name,
    moreIsBetter,
    of: (runs) => {
      const values = runs.map(({ figures }) => of(figures) ?? Number.NaN)
      return (weights) => {
        const weighed = values.map((value, seed) => value * weights[seed]!)
        return sumOf(weighed) / sumOf(Array.from(weights))
      }
    },
  }
}

/** Quantile of the samples of all seeds together; less is better. */
export function quantileMetric(name: string, key: keyof RunSamples, p: number): Metric {
  return {
    name,
    moreIsBetter: false,
    of: (runs) => {
      const samples = new SeedSamples(runs.map((run) => run.samples[key]))
      return (weights) => samples.quantile(p, weights)
    },
  }
}

/** @param seed of the resampling only */
export function compareArms(
  arms: readonly ArmRuns[],
  metrics: readonly Metric[],
  seed = 1,
): ArmComparison[] {
  const seeds = arms[0]?.runs.length ?? 0
  const draws = [new Uint16Array(seeds).fill(1), ...seedDraws(seeds, seededRandom(seed))]
  /** By arm, metric and draw; the first draw is all seeds once. */
  const drawn = arms.map(({ runs }) => metrics.map((metric) => draws.map(metric.of(runs))))
  return arms.map(({ name }, i) => ({
    name,
    values: drawn[i]!.map(([value]) => value!),
    ratios: i === 0 ? null : paired(drawn[i]!, drawn[0]!, (ours, base) => ours / base),
    differences: i === 0 ? null : paired(drawn[i]!, drawn[0]!, (ours, base) => ours - base),
  }))
}

/** By metric; of the draws the first is the value itself. */
function paired(
  ours: readonly (readonly number[])[],
  base: readonly (readonly number[])[],
  compare: (ours: number, base: number) => number,
): Interval[] {
  return ours.map((draws, m) => {
    const [value, ...others] = draws.map((one, draw) => compare(one, base[m]![draw]!))
    return intervalOf(value!, others)
  })
}

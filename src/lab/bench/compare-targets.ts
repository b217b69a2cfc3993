import { seededRandom } from '../../base/random.ts'
import { type Interval, intervalOf, seedDraws } from '../measure/bootstrap.ts'
import { QuantileSketch } from '../measure/quantile-sketch.ts'
import type { MeasuredStage } from './run-bench.ts'
import type { StageSamples } from './stage-tally.ts'

/** The second URL against the first, under one load. */
export interface TargetComparison {
  readonly load: MeasuredStage['figures']['load']
  readonly rounds: number
  /** Second over first; intervals over the rounds, paired. */
  readonly ratios: Readonly<Record<string, Interval>>
  /** Second less first, as a share. */
  readonly goodShare: Interval
}

type Statistic = (stages: readonly MeasuredStage[], weights: ArrayLike<number>) => number

const quantile =
  (key: keyof StageSamples, p: number): Statistic =>
  (stages, weights) => {
    const all = new QuantileSketch()
    stages.forEach(({ samples }, i) => {
      all.merge(samples[key], weights[i]!)
    })
    return all.quantile(p)
  }

const mean =
  (of: (stage: MeasuredStage['figures']) => number): Statistic =>
  (stages, weights) => {
    let sum = 0
    let count = 0
    stages.forEach(({ figures }, i) => {
      sum += of(figures) * weights[i]!
      count += weights[i]!
    })
    return sum / count
  }

const statistics: Readonly<Record<string, Statistic>> = {
  'TTFT p50': quantile('ttftMs', 0.5),
  'TTFT p90': quantile('ttftMs', 0.9),
  'TTFT p99': quantile('ttftMs', 0.99),
  'ITL p99': quantile('itlMs', 0.99),
  'E2E p50': quantile('e2eMs', 0.5),
  'task p50': quantile('taskMs', 0.5),
  'output tok/s': mean(({ perSecond }) => perSecond.outputTokens),
  'total tok/s': mean(({ perSecond }) => perSecond.totalTokens),
}

const goodShare = mean(({ goodput }) => goodput.share)

/** By load, in the order in which they were run first; none for a single URL. */
export function compareTargets(
  stages: readonly MeasuredStage[],
  urls: readonly string[],
): TargetComparison[] {
  const [base, other] = urls
  if (base === undefined || other === undefined) return []
  const whole = stages.filter(({ figures }) => !figures.cut)
  const loads = new Map(whole.map(({ figures }) => [JSON.stringify(figures.load), figures.load]))
  return [...loads].map(([key, load]) => {
    const of = (url: string): MeasuredStage[] =>
      whole
        .filter(({ figures }) => figures.url === url && JSON.stringify(figures.load) === key)
        .sort((a, b) => a.figures.round - b.figures.round)
    return { load, ...compared(of(base), of(other)) }
  })
}

function compared(
  base: readonly MeasuredStage[],
  other: readonly MeasuredStage[],
): Omit<TargetComparison, 'load'> {
  // A run that was cut off may lack the last half of a pair.
  const rounds = Math.min(base.length, other.length)
  const once = new Uint16Array(rounds).fill(1)
  const draws = seedDraws(rounds, seededRandom(1))
  const paired = (of: Statistic, compare: (ours: number, base: number) => number): Interval => {
    const at = (weights: ArrayLike<number>): number =>
      compare(of(other.slice(0, rounds), weights), of(base.slice(0, rounds), weights))
    return intervalOf(at(once), draws.map(at))
  }
  return {
    rounds,
    ratios: Object.fromEntries(
      Object.entries(statistics).map(([name, of]) => [name, paired(of, (a, b) => a / b)]),
    ),
    goodShare: paired(goodShare, (a, b) => a - b),
  }
}

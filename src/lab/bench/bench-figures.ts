import { QuantileSketch } from '../measure/quantile-sketch.ts'
import type { BenchSlo } from './bench-slo.ts'
import { compareTargets, type TargetComparison } from './compare-targets.ts'
import { type Knee, kneeRule } from './knee.ts'
import type { BenchResult, MeasuredStage } from './run-bench.ts'
import type { StageFigures } from './stage-figures.ts'
import type { StageSamples } from './stage-tally.ts'

/** What was asked for, as far as the figures do not say it themselves. */
export interface BenchSetup {
  readonly urls: readonly string[]
  readonly model: string
  readonly api: string
  readonly stream: boolean
  readonly slo: BenchSlo
  /** What the requests are like, in words. */
  readonly traffic: string
  readonly rounds: number
  readonly sweep: boolean
}

/** All that a run of the bench came to: what `--json` prints and what the report is made of. */
export interface BenchFigures extends BenchSetup {
  readonly schema: 'warmpath-bench/1'
  readonly quantiles: string
  readonly stages: readonly StageFigures[]
  readonly distributions: readonly Distribution[]
  readonly comparisons: readonly TargetComparison[]
  readonly knees: readonly Knee[]
  readonly kneeRule: string
  /** Ended before its time. */
  readonly cut: boolean
}

/** Evenly spaced quantiles, over all rounds. */
export interface Distribution {
  readonly url: string
  readonly load: StageFigures['load']
  readonly ttftMs: readonly number[]
  readonly e2eMs: readonly number[]
  readonly taskMs: readonly number[]
}

const outlinePoints = 101

export function benchFigures(setup: BenchSetup, result: BenchResult): BenchFigures {
  const { stages, knees, cut } = result
  return {
    schema: 'warmpath-bench/1',
    ...setup,
    quantiles: 'exact up to 10,000 samples, then within 0.5 %',
    stages: stages.map(({ figures }) => figures),
    distributions: distributionsOf(stages),
    comparisons: compareTargets(stages, setup.urls),
    knees,
    kneeRule,
    cut,
  }
}

function distributionsOf(stages: readonly MeasuredStage[]): Distribution[] {
  const groups = Map.groupBy(stages, ({ figures: { url, load } }) => JSON.stringify([url, load]))
  return [...groups.values()].map((group) => {
    const { url, load } = group[0]!.figures
    const outline = (key: keyof StageSamples): number[] => {
      const all = new QuantileSketch()
      for (const { samples } of group) all.merge(samples[key])
      return all.outline(outlinePoints)
    }
    return {
      url,
      load,
      ttftMs: outline('ttftMs'),
      e2eMs: outline('e2eMs'),
      taskMs: outline('taskMs'),
    }
  })
}

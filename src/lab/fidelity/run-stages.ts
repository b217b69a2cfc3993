/** llm-d's stages of requests that share prompts once more, in simulation. */
import { profileNamed } from '../engine/profiles.ts'
import type { WindowFigures } from '../measure/measure-run.ts'
import type { TimeWindow } from '../measure/steady-middle.ts'
import { fleetOf } from '../runner/fleet-spec.ts'
import type { JobResult, SimulationJob } from '../runner/simulation-job.ts'
import { stageRestSeconds, warmUpDrainSeconds } from '../workload/workloads.ts'
import { mean, type Pair } from './pair.ts'
import { ladderWarmUpSeconds } from './published-ladder.ts'
import type { PublishedStage, StagesExperiment, StagesSeries } from './published-stages.ts'

export interface StageRow {
  readonly experiment: string
  readonly series: string
  readonly perSecond: number
  readonly tokensPerSecond: Pair
  readonly ttftMeanS: Pair
  /** First tokens come later than `backloggedTtftS`, published and simulated. */
  readonly backlogged: boolean
}

/** A stage whose mean first token comes later is one of a queue, not of a fleet. */
const backloggedTtftS = 5

/** The simulations of one series with one seed. */
export function stagesJobs(
  experiment: StagesExperiment,
  series: StagesSeries,
  seed: number,
): SimulationJob[] {
  const { arm, variant, fleet, stages } = series
  const common = {
    arm,
    ...(variant === undefined ? {} : { variant }),
    members: fleetOf(fleet, profileNamed),
    seed,
  }
  const { workload } = experiment
  if (experiment.inOneRun) {
    const rates = stages.map(({ perSecond }) => perSecond).join('/')
    return [{ ...common, workload: `${workload},rates=${rates}`, windows: windowsOf(stages) }]
  }
  const fromMs = (ladderWarmUpSeconds + warmUpDrainSeconds) * 1_000
  return stages.map(({ perSecond, seconds }) => ({
    ...common,
    workload: `${workload},perSecond=${perSecond},seconds=${seconds}`,
    windows: { [perSecond]: { fromMs, toMs: fromMs + seconds * 1_000 } },
  }))
}

function windowsOf(stages: readonly PublishedStage[]): Record<string, TimeWindow> {
  let fromMs = 0
  return Object.fromEntries(
    stages.map(({ perSecond, seconds }) => {
      const window = { fromMs, toMs: fromMs + seconds * 1_000 }
      fromMs = window.toMs + stageRestSeconds * 1_000
      return [perSecond, window]
    }),
  )
}

/**
 * @param runs of the series, one a seed, each the results of its `stagesJobs`; tokens are divided
 *   by the time of the stage and its drain, as the load generator does it
 */
export function stageRows(
  { title, counted }: StagesExperiment,
  series: StagesSeries,
  runs: readonly (readonly JobResult[])[],
): StageRow[] {
  return series.stages.map((stage) => {
    const of = runs.map((results) => windowNamed(`${stage.perSecond}`, results))
    const ttftMeanS = {
      published: stage.ttftMeanS,
      simulated: mean(of.map(({ ttftMs }) => (ttftMs.mean ?? 0) / 1_000)),
    }
    return {
      experiment: title,
      series: series.title,
      perSecond: stage.perSecond,
      tokensPerSecond: {
        published: stage.tokensPerSecond,
        simulated: mean(of.map(({ served }) => served[counted])),
      },
      ttftMeanS,
      backlogged: Math.min(ttftMeanS.published, ttftMeanS.simulated) > backloggedTtftS,
    }
  })
}

function windowNamed(name: string, results: readonly JobResult[]): WindowFigures {
  return results.map(({ figures }) => figures.windows[name]).find((one) => one !== undefined)!
}

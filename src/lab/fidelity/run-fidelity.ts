/** The published experiments once more, in simulation. */
import { type JobsOptions, runJobs } from '../runner/run-jobs.ts'
import type { JobResult, SimulationJob } from '../runner/simulation-job.ts'
import { publishedStages, type StagesExperiment, type StagesSeries } from './published-stages.ts'
import {
  type AgentsRow,
  agentsJobs,
  agentsRows,
  type OtherSeed,
  otherSeedJobs,
  otherSeeds,
} from './run-agents.ts'
import { type StageRow, stageRows, stagesJobs } from './run-stages.ts'

export interface FidelityPlan {
  /** Of the requests in stages. */
  readonly stageSeeds: readonly number[]
  /** Stages that run by themselves, by their rates; all when left out. */
  readonly rates?: readonly number[]
  /** On which the comparison of agents is repeated. */
  readonly otherSeeds: readonly number[]
}

export interface Fidelity extends FidelityPlan {
  readonly stages: readonly StageRow[]
  readonly agents: readonly AgentsRow[]
  readonly others: readonly OtherSeed[]
}

export async function runFidelity(
  plan: FidelityPlan,
  options: JobsOptions = {},
): Promise<Fidelity> {
  const { stageSeeds } = plan
  const series = publishedStages.flatMap((experiment) =>
    experiment.series.map((one) => ({ experiment, series: chosen(experiment, one, plan.rates) })),
  )
  const jobs = series.flatMap(({ experiment, series }) =>
    stageSeeds.map((seed) => stagesJobs(experiment, series, seed)),
  )
  const batches = [agentsJobs(), otherSeedJobs(plan.otherSeeds), ...jobs]
  const [agents, others, ...stages] = await runBatches(batches, options)
  const seeds = stageSeeds.length
  return {
    ...plan,
    stages: series.flatMap(({ experiment, series }, i) =>
      stageRows(experiment, series, stages.slice(i * seeds, (i + 1) * seeds)),
    ),
    agents: agentsRows(agents!),
    others: otherSeeds(plan.otherSeeds, others!),
  }
}

function chosen(
  { inOneRun }: StagesExperiment,
  series: StagesSeries,
  rates: readonly number[] | undefined,
): StagesSeries {
  if (inOneRun || rates === undefined) return series
  return { ...series, stages: series.stages.filter(({ perSecond }) => rates.includes(perSecond)) }
}

/** All at once, so that no core waits; the results of each batch by itself. */
async function runBatches(
  batches: readonly (readonly SimulationJob[])[],
  options: JobsOptions,
): Promise<JobResult[][]> {
  const results = await runJobs(batches.flat(), options)
  let at = 0
  return batches.map(({ length }) => {
    at += length
    return results.slice(at - length, at)
  })
}

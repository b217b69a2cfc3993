/** llm-d's ladder of shared prompts once more, in simulation. */
import { profileNamed } from '../engine/profiles.ts'
import { fleetOf } from '../runner/fleet-spec.ts'
import type { JobResult, SimulationJob } from '../runner/simulation-job.ts'
import { warmUpDrainSeconds } from '../workload/workloads.ts'
import { mean, type Pair } from './pair.ts'
import {
  type LadderArm,
  ladderArms,
  ladderWarmUpSeconds,
  type PublishedStage,
  publishedLadder,
} from './published-ladder.ts'

export interface LadderRow {
  readonly arm: LadderArm
  readonly perSecond: number
  readonly outputPerSecond: Pair
  readonly ttftMeanS: Pair
  /** First tokens come later than `backloggedTtftS`, published and simulated. */
  readonly backlogged: boolean
}

/** A stage whose mean first token comes later is one of a queue, not of a fleet. */
const backloggedTtftS = 5

export interface LadderStage {
  readonly stage: PublishedStage
  readonly arm: LadderArm
}

/** @param rates of the stages; all when left out */
export function ladderStages(rates?: readonly number[]): LadderStage[] {
  return publishedLadder
    .filter(({ perSecond }) => rates?.includes(perSecond) ?? true)
    .flatMap((stage) => ladderArms.map((arm) => ({ stage, arm })))
}

export function ladderJobs(
  stages: readonly LadderStage[],
  seeds: readonly number[],
): SimulationJob[] {
  return stages.flatMap((one) => seeds.map((seed) => ladderJob(one, seed)))
}

/** @param results of `ladderJobs`, in their order */
export function ladderRows(
  stages: readonly LadderStage[],
  results: readonly JobResult[],
): LadderRow[] {
  const each = results.length / stages.length
  return stages.map((one, i) => ladderRow(one, results.slice(i * each, (i + 1) * each)))
}

/** Each stage by itself, behind the warm-up: llm-d's load generator waits for a stage to drain. */
function ladderJob({ stage, arm }: LadderStage, seed: number): SimulationJob {
  const { perSecond, seconds } = stage
  const options = `perSecond=${perSecond},seconds=${seconds},warmUpSeconds=${ladderWarmUpSeconds}`
  const fromMs = (ladderWarmUpSeconds + warmUpDrainSeconds) * 1_000
  return {
    workload: `shared-prefix,${options}`,
    arm,
    members: fleetOf('8xqwen3-32b-2xh100', profileNamed),
    seed,
    windows: { stage: { fromMs, toMs: fromMs + seconds * 1_000 } },
  }
}

/** Tokens are divided by the time of the stage and its drain, as the load generator does it. */
function ladderRow({ stage, arm }: LadderStage, runs: readonly JobResult[]): LadderRow {
  const of = runs.map(({ figures }) => figures.windows.stage!)
  const ttftMeanS = {
    published: stage.ttftMeanS[arm],
    simulated: mean(of.map(({ ttftMs }) => (ttftMs.mean ?? 0) / 1_000)),
  }
  return {
    arm,
    perSecond: stage.perSecond,
    outputPerSecond: {
      published: stage.outputPerSecond[arm],
      simulated: mean(of.map(({ served }) => served.outputTokens)),
    },
    ttftMeanS,
    backlogged: Math.min(ttftMeanS.published, ttftMeanS.simulated) > backloggedTtftS,
  }
}

/** The published experiments once more, in simulation. */
import { profileNamed } from '../engine/profiles.ts'
import { fleetOf } from '../runner/fleet-spec.ts'
import { type JobsOptions, runJobs } from '../runner/run-jobs.ts'
import type { JobResult, SimulationJob } from '../runner/simulation-job.ts'
import { warmUpDrainSeconds } from '../workload/workloads.ts'
import {
  type LadderArm,
  ladderArms,
  ladderWarmUpSeconds,
  type PublishedAgents,
  type PublishedStage,
  publishedAgents,
  publishedLadder,
} from './published.ts'

export interface Pair {
  readonly published: number
  readonly simulated: number
}

export interface LadderRow {
  readonly arm: LadderArm
  readonly perSecond: number
  readonly outputPerSecond: Pair
  readonly ttftMeanS: Pair
  /** First tokens come later than `backloggedTtftS`, published and simulated. */
  readonly backlogged: boolean
}

export interface AgentsRow {
  readonly arm: string
  readonly sessions: number
  readonly totalPerSecond: Pair
  /** Lowest and highest of the seeds. */
  readonly totalRange: readonly [number, number]
  readonly ttftP50S: { readonly published: number | null; readonly simulated: number }
}

export interface Fidelity {
  readonly ladder: readonly LadderRow[]
  readonly agents: readonly AgentsRow[]
  readonly ladderSeed: number
  readonly agentsSeeds: readonly number[]
}

/** The error in throughput that a stage may have. */
export const errorShareMax = 0.15
/** A stage whose mean first token comes later is one of a queue, not of a fleet. */
const backloggedTtftS = 5
const ladderSeed = 11

export async function runFidelity(
  plan: { readonly agentsSeeds: number },
  options: JobsOptions = {},
): Promise<Fidelity> {
  const agentsSeeds = Array.from({ length: plan.agentsSeeds }, (_, i) => i + 1)
  const stages = publishedLadder.flatMap((stage) => ladderArms.map((arm) => ({ stage, arm })))
  const jobs: SimulationJob[] = [
    ...stages.map(({ stage, arm }) => ladderJob(stage, arm)),
    ...publishedAgents.flatMap((one) => agentsSeeds.map((seed) => agentsJob(one, seed))),
  ]
  const results = await runJobs(jobs, options)
  const ofAgents = results.slice(stages.length)
  const seeds = agentsSeeds.length
  return {
    ladder: stages.map(({ stage, arm }, i) => ladderRow(stage, arm, results[i]!)),
    agents: publishedAgents.map((one, i) =>
      agentsRow(one, ofAgents.slice(i * seeds, (i + 1) * seeds)),
    ),
    ladderSeed,
    agentsSeeds,
  }
}

/** Each stage by itself, behind the warm-up: llm-d's load generator waits for a stage to drain. */
function ladderJob({ perSecond, seconds }: PublishedStage, arm: LadderArm): SimulationJob {
  const options = `perSecond=${perSecond},seconds=${seconds},warmUpSeconds=${ladderWarmUpSeconds}`
  return {
    workload: `shared-prefix,${options}`,
    arm,
    members: fleetOf('8xqwen3-32b-2xh100', profileNamed),
    seed: ladderSeed,
    records: true,
  }
}

function agentsJob({ arm, sessions }: PublishedAgents, seed: number): SimulationJob {
  return {
    workload: `code-generation,sessions=${sessions}`,
    arm,
    members: fleetOf('8xqwen3-coder-480b-tpu-v7x', profileNamed),
    seed,
  }
}

function ladderRow(stage: PublishedStage, arm: LadderArm, result: JobResult): LadderRow {
  const startMs = (ladderWarmUpSeconds + warmUpDrainSeconds) * 1_000
  const requests = result.records!.requests.filter(({ readyMs }) => readyMs >= startMs)
  const outputTokens = requests.reduce((sum, one) => sum + one.outputTokens, 0)
  const endMs = Math.max(...requests.map(({ finishedMs }) => finishedMs ?? startMs))
  const ttftMs = requests.reduce((sum, one) => sum + one.firstTokenMs! - one.readyMs, 0)
  const ttftMeanS = {
    published: stage.ttftMeanS[arm],
    simulated: ttftMs / requests.length / 1_000,
  }
  return {
    arm,
    perSecond: stage.perSecond,
    outputPerSecond: {
      published: stage.outputPerSecond[arm],
      simulated: (outputTokens / (endMs - startMs)) * 1_000,
    },
    ttftMeanS,
    backlogged: Math.min(ttftMeanS.published, ttftMeanS.simulated) > backloggedTtftS,
  }
}

function agentsRow(published: PublishedAgents, runs: readonly JobResult[]): AgentsRow {
  const totals = runs.map(({ figures }) => figures.whole.totalTokens)
  const ttfts = runs.map(({ figures }) => (figures.ttftMs.p50 ?? 0) / 1_000)
  return {
    arm: published.arm,
    sessions: published.sessions,
    totalPerSecond: { published: published.totalPerSecond, simulated: mean(totals) },
    totalRange: [Math.min(...totals), Math.max(...totals)],
    ttftP50S: { published: published.ttftP50S, simulated: mean(ttfts) },
  }
}

/** By how much the simulated figure differs, as a share of the published one. */
export function errorShare({ published, simulated }: Pair): number {
  return simulated / published - 1
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length
}

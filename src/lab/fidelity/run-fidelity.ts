/** The published experiments once more, in simulation. */
import { type JobsOptions, runJobs } from '../runner/run-jobs.ts'
import {
  type AgentsRow,
  agentsJobs,
  agentsRows,
  type OtherSeed,
  otherSeedJobs,
  otherSeeds,
} from './run-agents.ts'
import { type LadderRow, ladderJobs, ladderRows, ladderStages } from './run-ladder.ts'

export interface FidelityPlan {
  readonly ladderSeeds: readonly number[]
  /** Stages of the ladder by their rates; all when left out. */
  readonly ladderRates?: readonly number[]
  /** On which the comparison of agents is repeated. */
  readonly otherSeeds: readonly number[]
}

export interface Fidelity extends FidelityPlan {
  readonly ladder: readonly LadderRow[]
  readonly agents: readonly AgentsRow[]
  readonly others: readonly OtherSeed[]
}

export async function runFidelity(
  plan: FidelityPlan,
  options: JobsOptions = {},
): Promise<Fidelity> {
  const stages = ladderStages(plan.ladderRates)
  const ladder = ladderJobs(stages, plan.ladderSeeds)
  const agents = agentsJobs()
  const results = await runJobs([...ladder, ...agents, ...otherSeedJobs(plan.otherSeeds)], options)
  const ofAgents = results.slice(ladder.length)
  return {
    ...plan,
    ladder: ladderRows(stages, results.slice(0, ladder.length)),
    agents: agentsRows(ofAgents.slice(0, agents.length)),
    others: otherSeeds(plan.otherSeeds, ofAgents.slice(agents.length)),
  }
}

import { exitCodes } from '../base/exit-codes.ts'
import type { TaskSource } from '../lab/bench/bench-task.ts'
import type { StageId } from '../lab/bench/run-bench.ts'
import { CommandFailure } from './command-failure.ts'

export interface TrafficOptions {
  readonly agents?: number
  readonly tasks?: number
  readonly workload?: string
  readonly promptTokens: number
  readonly outputTokens: number
  readonly prefixes: number
  readonly prefixTokens: number
}

export interface BenchTraffic {
  /** For people. */
  readonly words: string
  /** A stage lasts until its tasks are done, not for a time. */
  readonly untilDone: boolean
  readonly sourceOf: (stage: StageId) => TaskSource
}

/** Small coding agents, sized so that a laptop's worth of engines bears a few. */
const agentShape = {
  turns: 10,
  sharedTokens: 1_500,
  ownTokensMean: 12_000,
  ownTokensStdDev: 5_000,
  ownTokensMin: 6_000,
  ownTokensMax: 20_000,
  turnTokensMean: 500,
  turnTokensStdDev: 300,
  turnTokensMin: 50,
  turnTokensMax: 2_000,
  outputTokensMean: 80,
  outputTokensStdDev: 60,
  outputTokensMin: 10,
  outputTokensMax: 400,
  toolMsMean: 1_200,
  toolMsStdDev: 1_200,
  toolMsMin: 100,
  toolMsMax: 10_000,
}

/** @param maxTokens longest prompt and answer that the model takes; null where it is not known */
export async function trafficOf(
  options: TrafficOptions,
  maxTokens: number | null,
): Promise<BenchTraffic> {
  if (options.agents === undefined && options.workload === undefined) {
    return await singleRequests(options, maxTokens)
  }
  const { workloadOf, parseWorkload } = await import('../lab/workload/workloads.ts')
  const { WorkloadTasks } = await import('../lab/bench/workload-tasks.ts')
  const text = options.workload ?? agentWorkload(options, maxTokens)
  try {
    parseWorkload(text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new CommandFailure(exitCodes.usage, `--workload: ${error.message}`)
  }
  return {
    words: options.workload === undefined ? agentWords(options) : `workload ${text}`,
    untilDone: options.agents !== undefined,
    sourceOf: ({ seed, target }) => new WorkloadTasks(workloadOf(text, seed), target),
  }
}

async function singleRequests(
  options: TrafficOptions,
  maxTokens: number | null,
): Promise<BenchTraffic> {
  const { SingleRequests } = await import('../lab/bench/single-requests.ts')
  const { promptTokens, outputTokens, prefixes, prefixTokens } = options
  const prompt = promptTokens + (prefixes > 0 ? prefixTokens : 0)
  if (maxTokens !== null && prompt + outputTokens > maxTokens) {
    throw new CommandFailure(
      exitCodes.usage,
      `a prompt of ${prompt} tokens and an answer of ${outputTokens}: the model takes ` +
        `${maxTokens} in all; see --prompt-tokens, --output-tokens, --prefix-tokens`,
    )
  }
  const behind = prefixes > 0 ? ` behind ${prefixes} system prompts of ${prefixTokens}` : ''
  return {
    words: `requests of ${promptTokens} tokens${behind}, answers of ${outputTokens}`,
    untilDone: false,
    sourceOf: ({ seed, target }) => new SingleRequests(options, seed, target),
  }
}

function tasksOf({ agents = 1, tasks }: TrafficOptions): number {
  return tasks ?? 2 * agents
}

function agentWorkload(options: TrafficOptions, maxTokens: number | null): string {
  const contextTokensMax = maxTokens ?? 262_144
  const shape = { sessions: tasksOf(options), ...agentShape, contextTokensMax }
  const values = Object.entries(shape).map(([key, value]) => `${key}=${value}`)
  return ['code-generation', ...values].join(',')
}

function agentWords(options: TrafficOptions): string {
  const { ownTokensMean, turns } = agentShape
  return (
    `${tasksOf(options)} sessions of ${turns} calls by ${options.agents} made-up coding agents, ` +
    `about ${ownTokensMean} tokens of context each`
  )
}

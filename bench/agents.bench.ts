/**
 * Agents in the simulator: coding sessions of a long own context, turn by turn, on a fleet that
 * holds them all. The median time to first token under `warmpath` against `round-robin`, with
 * the same sessions, tool times and seeds. `npm run bench:agents`
 */
import { textTable } from '../src/commands/text-table.ts'
import { type PolicyName, policies } from '../src/core/policy/registry.ts'
import { profileNamed } from '../src/lab/engine/profiles.ts'
import { simulate } from '../src/lab/simulator/simulate.ts'
import { replicas as members } from '../src/lab/simulator/simulated-fleet.ts'
import { codeGeneration, codeGenerationDefaults } from '../src/lab/workload/code-generation.ts'

export interface AgentsBenchSize {
  readonly sessions: number
  readonly turns: number
  readonly replicas: number
  readonly seeds: readonly number[]
}

export interface AgentsBenchRow {
  readonly policy: PolicyName
  readonly seed: number
  readonly requests: number
  readonly refused: number
  readonly ttftP50Ms: number
  readonly ttftP90Ms: number
  /** Share of prompt tokens that the engines found cached. */
  readonly hitShare: number
  readonly makespanMs: number
}

export const fullSize: AgentsBenchSize = {
  sessions: 24,
  turns: 20,
  replicas: 8,
  seeds: [1, 2, 3, 4, 5],
}

const compared: readonly PolicyName[] = [
  'round-robin',
  'least-request',
  'session-affinity',
  'warmpath',
]

export function agentsBench(size: AgentsBenchSize): AgentsBenchRow[] {
  return size.seeds.flatMap((seed) => compared.map((policy) => run(policy, size, seed)))
}

function run(policy: PolicyName, size: AgentsBenchSize, seed: number): AgentsBenchRow {
  const { sessions, turns, replicas } = size
  const profile = profileNamed('qwen3-coder-480b-tpu-v7x')
  const workload = codeGeneration({ ...codeGenerationDefaults, sessions, turns }, seed)
  const { requests, endMs } = simulate({
    workload,
    policy: policies[policy],
    members: members(profile, replicas),
    seed,
    information: 'approximate',
  })
  const served = requests.filter((request) => request.firstTokenMs !== null)
  const ttftMs = served
    .map((request) => request.firstTokenMs! - request.readyMs)
    .sort((a, b) => a - b)
  const promptTokens = served.reduce((sum, request) => sum + request.promptTokens, 0)
  const cachedTokens = served.reduce((sum, request) => sum + request.cachedTokens, 0)
  return {
    policy,
    seed,
    requests: requests.length,
    refused: requests.length - served.length,
    ttftP50Ms: quantile(ttftMs, 0.5),
    ttftP90Ms: quantile(ttftMs, 0.9),
    hitShare: cachedTokens / promptTokens,
    makespanMs: endMs,
  }
}

function quantile(ascending: readonly number[], p: number): number {
  return ascending[Math.max(0, Math.ceil(p * ascending.length) - 1)]!
}

/** By how much the median falls against round-robin with the same seed; 0.85 is 85 % less. */
export function medianCut(
  rows: readonly AgentsBenchRow[],
  policy: PolicyName,
  seed: number,
): number {
  const of = (name: PolicyName) => rows.find((row) => row.policy === name && row.seed === seed)!
  return 1 - of(policy).ttftP50Ms / of('round-robin').ttftP50Ms
}

if (import.meta.main) {
  const rows = agentsBench(fullSize)
  const seconds = (ms: number): string => (ms / 1_000).toFixed(2)
  const { sessions, turns, replicas, seeds } = fullSize
  process.stdout.write(
    `simulated: ${sessions} coding sessions of ${turns} turns, all submitted at once, ` +
      `${replicas} replicas\n`,
  )
  process.stdout.write(
    textTable(
      ['seed', 'policy', 'requests', 'TTFT p50 s', 'p90 s', 'hit %', 'makespan s', 'p50 cut %'],
      rows.map((row) => [
        row.seed,
        row.policy,
        row.requests,
        seconds(row.ttftP50Ms),
        seconds(row.ttftP90Ms),
        (100 * row.hitShare).toFixed(1),
        seconds(row.makespanMs),
        (100 * medianCut(rows, row.policy, row.seed)).toFixed(1),
      ]),
    ),
  )
  const cuts = seeds.map((seed) => medianCut(rows, 'warmpath', seed))
  const least = (100 * Math.min(...cuts)).toFixed(1)
  process.stdout.write(
    `\nwarmpath cuts the median TTFT by at least ${least} % in each of the seeds\n`,
  )
}

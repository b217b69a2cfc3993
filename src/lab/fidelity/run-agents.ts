/** llm-d's coding agents once more, in simulation. */
import { profileNamed } from '../engine/profiles.ts'
import { fleetOf } from '../runner/fleet-spec.ts'
import type { JobResult, SimulationJob } from '../runner/simulation-job.ts'
import type { SimulatedRequest } from '../simulator/request-record.ts'
import type { Workload } from '../workload/session.ts'
import { workloadOf } from '../workload/workloads.ts'
import type { Pair } from './pair.ts'
import { type AgentsPoint, type AgentsSeries, publishedAgents } from './published-agents.ts'

export interface AgentsRow {
  readonly series: string
  readonly sessions: number
  readonly totalPerSecond: Pair
  readonly ttftP50S: Pair
  readonly ttftP90S: Half
  readonly tpotP50Ms: Half
}

interface Half {
  readonly published: number | null
  readonly simulated: number
}

/** The same experiment with other seeds of the load generator, both routers with the same one. */
export interface OtherSeed {
  readonly seed: number
  readonly service: number
  readonly router: number
}

const all = publishedAgents.flatMap((series) => series.points.map((point) => ({ series, point })))
const [service] = publishedAgents
const router = publishedAgents.at(-1)!
/** Sessions of the comparison that the page makes. */
const comparedSessions = 40

export function agentsJobs(): SimulationJob[] {
  return all.map(({ series, point }) =>
    agentsJob(series, point.sessions, series.seedOf(point.sessions)),
  )
}

/** @param results of `agentsJobs`, in their order */
export function agentsRows(results: readonly JobResult[]): AgentsRow[] {
  return all.map(({ series, point }, i) => agentsRow(series, point, results[i]!))
}

/** Both routers as the page compares them, but with the same prompts. */
export function otherSeedJobs(seeds: readonly number[]): SimulationJob[] {
  return seeds.flatMap((seed) => [
    agentsJob({ ...service!, workload: router.workload }, comparedSessions, seed),
    agentsJob(router, comparedSessions, seed),
  ])
}

/** @param results of `otherSeedJobs` with these seeds, in their order */
export function otherSeeds(seeds: readonly number[], results: readonly JobResult[]): OtherSeed[] {
  const total = (i: number, seed: number): number =>
    totalPerSecond(results[i]!, workloadOf(workloadText(router, comparedSessions), seed))
  return seeds.map((seed, i) => {
    return { seed, service: total(2 * i, seed), router: total(2 * i + 1, seed) }
  })
}

function agentsJob(series: AgentsSeries, sessions: number, seed: number): SimulationJob {
  const { arm, variant, fleet } = series
  return {
    workload: workloadText(series, sessions),
    arm,
    ...(variant === undefined ? {} : { variant }),
    members: fleetOf(fleet, profileNamed),
    seed,
    records: true,
  }
}

function workloadText({ workload }: AgentsSeries, sessions: number): string {
  return `code-generation-replay,conversations=${sessions},${workload}`
}

function agentsRow(series: AgentsSeries, point: AgentsPoint, result: JobResult): AgentsRow {
  const { sessions } = point
  const workload = workloadOf(workloadText(series, sessions), series.seedOf(sessions))
  const { ttftMs, tpotMs } = result.figures
  return {
    series: series.title,
    sessions,
    totalPerSecond: {
      published: point.totalPerSecond,
      simulated: totalPerSecond(result, workload),
    },
    ttftP50S: { published: point.ttftP50S, simulated: ttftMs.p50! / 1_000 },
    ttftP90S: { published: point.ttftP90S, simulated: ttftMs.p90! / 1_000 },
    tpotP50Ms: { published: point.tpotP50Ms, simulated: tpotMs.p50! },
  }
}

/** As the load generator counts: a request ends for it when the tool that follows has run. */
function totalPerSecond({ records }: JobResult, { senders, sessions }: Workload): number {
  const restMs = new Map<string, number>()
  for (const one of senders!.flatMap(({ turns }) => turns)) {
    restMs.set(`${sessions[one.session]!.id}/${one.turn}`, one.restMs)
  }
  const { requests } = records!
  const endMs = ({ sessionId, turn, finishedMs }: SimulatedRequest): number =>
    finishedMs! + restMs.get(`${sessionId}/${turn}`)!
  const tokens = requests.reduce((sum, one) => sum + one.promptTokens + one.outputTokens, 0)
  const firstMs = Math.min(...requests.map(({ readyMs }) => readyMs))
  return (tokens / (Math.max(...requests.map(endMs)) - firstMs)) * 1_000
}

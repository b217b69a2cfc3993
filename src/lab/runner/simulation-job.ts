/** One simulation as plain data, so that a worker can be told to run it. */
import { armNamed, variantOf } from '../arms/arms.ts'
import type { Slo } from '../measure/goodput.ts'
import { type MeasuredRun, measureRun } from '../measure/measure-run.ts'
import type { TimeWindow } from '../measure/steady-middle.ts'
import type { FleetChange } from '../simulator/fleet-change.ts'
import type { Information } from '../simulator/information.ts'
import type { SimulatedRequest, SimulatedSession } from '../simulator/request-record.ts'
import { simulate } from '../simulator/simulate.ts'
import type { FleetMember } from '../simulator/simulated-fleet.ts'
import type { Timeline } from '../simulator/timeline.ts'
import type { Workload } from '../workload/session.ts'
import { workloadOf } from '../workload/workloads.ts'
import { recordedName, recordedWorkload } from './recorded-sessions.ts'

export interface SimulationJob {
  /** Name and options, as `workloadOf` or `recordedWorkload` takes them. */
  readonly workload: string
  readonly arm: string
  /** Label of the arm's variant; its defaults when left out. */
  readonly variant?: string
  readonly members: readonly FleetMember[]
  /** Of the workload and of the router. */
  readonly seed: number
  readonly information?: Information
  readonly scrapeIntervalMs?: number | null
  readonly scrapeAgeMs?: number
  readonly holdMsMax?: number
  readonly changes?: readonly FleetChange[]
  readonly untilMs?: number | null
  readonly slo?: Slo
  /** Stretches of the run that are also measured by themselves, by name. */
  readonly windows?: Readonly<Record<string, TimeWindow>>
  /** Returns the records as well, for plots. */
  readonly records?: boolean
}

/** What plots are drawn from. */
export interface RunRecords {
  readonly requests: readonly SimulatedRequest[]
  readonly sessions: readonly SimulatedSession[]
  readonly timeline: Timeline
}

export interface JobResult extends MeasuredRun {
  readonly records: RunRecords | null
}

export function runSimulationJob(job: SimulationJob): JobResult {
  const { arm, variant, slo, windows, records = false, ...simulation } = job
  const { policy, admission } = variantOf(armNamed(arm), variant)
  const workload = trafficOf(job)
  const result = simulate({
    ...simulation,
    workload,
    policy,
    ...(admission === undefined ? {} : { admission }),
    ...(records ? { timelineMs } : {}),
  })
  const { requests, sessions, timeline } = result
  return {
    ...measureRun(result, workload, slo, windows),
    records: records ? { requests, sessions, timeline } : null,
  }
}

function trafficOf({ workload, seed }: SimulationJob): Workload {
  return workload.startsWith(`${recordedName},`)
    ? recordedWorkload(workload, seed)
    : workloadOf(workload, seed)
}

/** Samples of the fleet's state for plots come this far apart. */
const timelineMs = 5_000

/** How a job is called in messages. */
export function jobTitle({ arm, variant, workload, seed }: SimulationJob): string {
  const label = variant === undefined ? '' : ` (${variant})`
  return `${arm}${label} on ${workload}, seed ${seed}`
}

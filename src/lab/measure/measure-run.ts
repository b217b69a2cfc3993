/** From a run's records to its figures, and to the samples that figures over several runs need. */
import type { SimulatedRequest, SimulatedSession } from '../simulator/request-record.ts'
import type { WorldResult } from '../simulator/world.ts'
import type { Workload } from '../workload/session.ts'
import { aloneMs } from './alone.ts'
import { type Balance, balanceOf } from './balance.ts'
import { type Cost, costOf } from './cost.ts'
import { type Fairness, fairnessOf } from './fairness.ts'
import { type Goodput, goodputOf, type Slo, sloDefaults } from './goodput.ts'
import { e2eMs, heldMs, tpotMs, ttftMs } from './request-times.ts'
import { type Reuse, reuseOf } from './reuse.ts'
import { type Spread, spreadOf } from './spread.ts'
import { steadyMiddle, type TimeWindow } from './steady-middle.ts'
import { type Throughput, throughputIn } from './throughput.ts'

export interface Outcomes {
  readonly all: number
  readonly done: number
  readonly refused: number
  readonly failed: number
  /** Not over when the run was cut off. */
  readonly open: number
}

/** Of all requests, or of one tenant's or class's. */
export interface GroupFigures {
  readonly requests: Outcomes
  readonly sessions: { readonly all: number; readonly completed: number }
  readonly ttftMs: Spread
  readonly tpotMs: Spread
  readonly e2eMs: Spread
  /** How long the router held requests before it sent them; 0 where it did not. */
  readonly heldMs: Spread
  /** From a session's submission to the end of its last answer, gaps included. */
  readonly taskMs: Spread
  /** Task time over that of the same session alone on the fleet's fastest engine. */
  readonly slowdown: Spread
  readonly goodput: Goodput
  readonly reuse: Reuse
}

export interface RunFigures extends GroupFigures {
  /** From the first submission to the end of the last session. */
  readonly whole: Throughput
  /** The same for the time under full load; null where there is none. */
  readonly steady: Throughput | null
  /** Times between two tokens, over all tokens: stalls, which the mean per answer hides. */
  readonly itlMs: { readonly p50: number; readonly p99: number }
  readonly balance: Balance
  readonly fairness: Fairness
  readonly cost: Cost
  readonly tenants: Readonly<Record<string, GroupFigures>>
  readonly classes: Readonly<Record<string, GroupFigures>>
  /** Of the requests that were ready, and the sessions submitted, in stretches of the run. */
  readonly windows: Readonly<Record<string, WindowFigures>>
}

export interface WindowFigures extends GroupFigures {
  /** Of these requests, from the start of the stretch until the last of them is done. */
  readonly served: Throughput
}

/** The raw samples of one run. */
export interface RunSamples {
  readonly ttftMs: readonly number[]
  readonly tpotMs: readonly number[]
  readonly e2eMs: readonly number[]
  readonly heldMs: readonly number[]
  readonly taskMs: readonly number[]
  readonly slowdown: readonly number[]
}

export interface MeasuredRun {
  readonly figures: RunFigures
  readonly samples: RunSamples
}

interface Records {
  readonly requests: readonly SimulatedRequest[]
  readonly sessions: readonly SimulatedSession[]
}

/** @param windows stretches of the run that are also measured by themselves, by name */
export function measureRun(
  result: WorldResult,
  workload: Workload,
  slo = sloDefaults,
  windows: Readonly<Record<string, TimeWindow>> = {},
): MeasuredRun {
  const { requests, sessions, stays, gaps, endMs } = result
  const alone = aloneTimes(result, workload)
  const fromMs = Math.min(endMs, ...sessions.map(({ submittedMs }) => submittedMs))
  const steady = steadyMiddle(sessions, endMs)
  const [itlP50, itlP99] = gaps.quantiles([0.5, 0.99] as const)
  const durationMs = endMs - fromMs
  const group = (records: Records, ms = durationMs): GroupFigures =>
    groupFigures(records, samplesOf(records, alone), slo, ms)
  const samples = samplesOf(result, alone)
  const figures = {
    ...groupFigures(result, samples, slo, durationMs),
    whole: throughputIn(requests, { fromMs, toMs: endMs }),
    steady: steady === null ? null : throughputIn(requests, steady),
    itlMs: { p50: itlP50, p99: itlP99 },
    balance: balanceOf(requests, new Set(stays.map(({ member }) => member.endpoint)).size),
    fairness: fairnessOf(requests),
    cost: costOf(stays, endMs, sessions, requests),
    tenants: byName(result, ({ tenant }) => tenant, group),
    classes: byName(result, ({ priorityClass }) => priorityClass, group),
    windows: Object.fromEntries(
      Object.entries(windows).map(([name, window]) => {
        const records = recordsIn(result, window)
        const { fromMs, toMs } = window
        const lastMs = Math.max(toMs, ...records.requests.map((one) => one.finishedMs ?? endMs))
        const served = throughputIn(records.requests, { fromMs, toMs: lastMs })
        return [name, { ...group(records, toMs - fromMs), served }]
      }),
    ),
  }
  return { figures, samples }
}

function groupFigures(
  { requests, sessions }: Records,
  samples: RunSamples,
  slo: Slo,
  durationMs: number,
): GroupFigures {
  return {
    requests: outcomesOf(requests),
    sessions: {
      all: sessions.length,
      completed: sessions.filter(({ completed }) => completed).length,
    },
    ttftMs: spreadOf(samples.ttftMs),
    tpotMs: spreadOf(samples.tpotMs),
    e2eMs: spreadOf(samples.e2eMs),
    heldMs: spreadOf(samples.heldMs),
    taskMs: spreadOf(samples.taskMs),
    slowdown: spreadOf(samples.slowdown),
    goodput: goodputOf(requests, slo, durationMs),
    reuse: reuseOf(requests),
  }
}

function samplesOf(
  { requests, sessions }: Records,
  alone: ReadonlyMap<string, number>,
): RunSamples {
  const known = (of: (request: SimulatedRequest) => number | null): number[] =>
    requests.map(of).filter((value) => value !== null)
  const completed = sessions.filter((session) => session.completed)
  const taskMs = (session: SimulatedSession): number => session.endedMs! - session.submittedMs
  return {
    ttftMs: known(ttftMs),
    tpotMs: known(tpotMs),
    e2eMs: known(e2eMs),
    heldMs: known(heldMs),
    taskMs: completed.map(taskMs),
    slowdown: completed
      .filter(({ id }) => alone.has(id))
      .map((session) => taskMs(session) / alone.get(session.id)!),
  }
}

/** Per session on the fastest engine that was there. */
function aloneTimes({ stays }: WorldResult, workload: Workload): Map<string, number> {
  const profiles = [...new Set(stays.map(({ member }) => member.profile))]
  const times = new Map<string, number>()
  for (const session of workload.sessions) {
    const known = profiles
      .map((profile) => aloneMs(session, profile, workload.blockTokens))
      .filter((ms) => ms !== null)
    if (known.length > 0) times.set(session.id, Math.min(...known))
  }
  return times
}

function outcomesOf(requests: readonly SimulatedRequest[]): Outcomes {
  const count = (outcome: SimulatedRequest['outcome']): number =>
    requests.filter((request) => request.outcome === outcome).length
  return {
    all: requests.length,
    done: count('done'),
    refused: count('refused'),
    failed: count('failed'),
    open: count('open'),
  }
}

function recordsIn({ requests, sessions }: Records, { fromMs, toMs }: TimeWindow): Records {
  const inside = (atMs: number): boolean => atMs >= fromMs && atMs < toMs
  return {
    requests: requests.filter(({ readyMs }) => inside(readyMs)),
    sessions: sessions.filter(({ submittedMs }) => inside(submittedMs)),
  }
}

/** Empty where all have the same name: that is the whole run. */
function byName(
  { requests, sessions }: Records,
  nameOf: (one: SimulatedRequest | SimulatedSession) => string,
  group: (records: Records) => GroupFigures,
): Record<string, GroupFigures> {
  const names = [...new Set(sessions.map(nameOf))].sort()
  if (names.length < 2) return {}
  return Object.fromEntries(
    names.map((name) => [
      name,
      group({
        requests: requests.filter((one) => nameOf(one) === name),
        sessions: sessions.filter((one) => nameOf(one) === name),
      }),
    ]),
  )
}

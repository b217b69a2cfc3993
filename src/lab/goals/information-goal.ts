/** The router knows less: late events, lost ones, none at all, and a new start in the middle. */
import { informationOf } from '../runner/information-spec.ts'
import type { Claim, Goal, GoalPoint } from './goal.ts'
import { goodput, goodputIn } from './goal-metrics.ts'

/** Traffic, and when the router restarts in it. */
interface Traffic {
  readonly name: string
  readonly workload: string
  readonly fleet: string
  readonly restartsAtS: number
}

const prompts: Traffic = {
  name: 'shared prompts',
  workload: 'shared-prefix,perSecond=20,seconds=150',
  fleet: '8xqwen3-32b-2xh100',
  restartsAtS: 60,
}
const agents: Traffic = {
  name: 'agents',
  workload: 'code-generation,sessions=40',
  fleet: '8xqwen3-coder-480b-tpu-v7x',
  restartsAtS: 240,
}

/** From half a minute after the restart on. */
const recovered = 'recovered'
const recoveryS = 30
const watchedS = 60

function pointsOf({ name, workload, fleet, restartsAtS }: Traffic): GoalPoint[] {
  const fromMs = (restartsAtS + recoveryS) * 1_000
  const windows = { [recovered]: { fromMs, toMs: fromMs + watchedS * 1_000 } }
  const knowing = (what: string, more: Partial<GoalPoint> = {}): GoalPoint => ({
    name: `${name}, ${what}`,
    workload,
    fleet,
    more: { information: informationOf(what), windows },
    ...more,
  })
  const restart = { type: 'router-restart', atMs: restartsAtS * 1_000 } as const
  return [
    knowing('perfect'),
    knowing('events:100ms:0%'),
    knowing('events:100ms:1%'),
    knowing('events:2s:1%', { fullOnly: true }),
    knowing('approximate'),
    knowing('approximate', {
      name: `${name}, restart`,
      more: { information: 'approximate', windows, changes: [restart] },
    }),
  ]
}

function claimsOn({ name }: Traffic): Claim[] {
  const perfect = { point: `${name}, perfect` }
  const loses = (what: string, atLeast: number): Claim => ({
    metric: goodput,
    points: [`${name}, ${what}`],
    against: perfect,
    atLeast,
  })
  return [
    loses('events:100ms:0%', 0.95),
    loses('approximate', 0.85),
    {
      metric: goodputIn(recovered),
      points: [`${name}, restart`],
      against: { point: `${name}, approximate` },
      atLeast: 0.95,
    },
  ]
}

export const G10: Goal = {
  name: 'G10',
  title: 'knowing the caches late, in part, or anew',
  rank: goodput,
  field: ['least-request', 'llm-d-blend', 'llm-d-affinity', 'lmetric', 'dynamo'],
  points: [...pointsOf(prompts), ...pointsOf(agents)],
  claims: [...claimsOn(prompts), ...claimsOn(agents)],
}

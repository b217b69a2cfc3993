/** Traffic on which no rule can gain: nothing must be lost there. */
import type { Claim, Goal, GoalPoint } from './goal.ts'
import { goodput, steadyThroughput, throughput, ttftP99 } from './goal-metrics.ts'

const fleet = '8xqwen3-32b-2xh100'

const uniform: GoalPoint = {
  name: 'uniform steady',
  workload: 'unshared,perSecond=20,sigma=0.1,seconds=300',
  fleet,
}
const unshared: GoalPoint = {
  name: 'nothing shared',
  workload: 'unshared,perSecond=16,seconds=300',
  fleet,
}
const decodes: GoalPoint = {
  name: 'long answers',
  workload:
    'unshared,perSecond=8,promptTokensMedian=300,outputTokensMedian=2500,sigma=0.5,seconds=900',
  fleet,
}
const single: GoalPoint = {
  name: 'one replica',
  workload: 'unshared,perSecond=2,seconds=600',
  fleet: '1xqwen3-32b-2xh100',
}
const singleWithAgents: GoalPoint = {
  name: 'one replica, agents',
  workload: 'code-generation,sessions=5',
  fleet: '1xqwen3-coder-480b-tpu-v7x',
}

/** Beside who only counts requests. */
const leastRequest = { defaults: 'least-request' } as const
const open = [uniform.name, unshared.name, decodes.name, single.name]

const claims: readonly Claim[] = [
  { metric: steadyThroughput, points: open, against: leastRequest, atLeast: 0.99 },
  {
    metric: throughput,
    points: [singleWithAgents.name],
    against: leastRequest,
    atLeast: 0.99,
  },
  { metric: ttftP99, against: leastRequest, atMost: 1.05 },
]

export const G9: Goal = {
  name: 'G9',
  title: 'no regret where there is nothing to gain',
  rank: goodput,
  field: 'defaults',
  points: [uniform, unshared, decodes, single, singleWithAgents],
  claims,
}

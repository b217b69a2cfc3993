/** The code-generation workload of llm-d's guide, with room for all and beyond it. */
import type { Goal, GoalPoint } from './goal.ts'
import { slowdownMax, taskP50, throughput, ttftP50 } from './goal-metrics.ts'

const sessions = (count: number): GoalPoint => ({
  name: `${count} sessions`,
  workload: `code-generation,sessions=${count}`,
  fleet: '8xqwen3-coder-480b-tpu-v7x',
})

/** The same as llm-d's load generator draws and sends them. */
const replayed: GoalPoint = {
  ...sessions(40),
  name: "40, llm-d's generator",
  workload: 'code-generation-replay,conversations=40',
}

export const G2: Goal = {
  name: 'G2',
  title: 'coding agents, as many as llm-d shows',
  rank: throughput,
  points: [sessions(40), replayed],
  claims: [
    { metric: ttftP50, against: { defaults: 'round-robin' }, atMost: 0.15 },
    { metric: throughput, against: { defaults: 'round-robin' }, atLeast: 2.4 },
    { metric: throughput, against: { peer: 'best' }, atLeast: 0.99 },
  ],
}

const [at80, at120] = [['80 sessions'], ['120 sessions']]

export const G3: Goal = {
  name: 'G3',
  title: 'more coding agents than memory holds',
  rank: throughput,
  points: [sessions(80), sessions(120)],
  claims: [
    { metric: throughput, points: at80, against: { peer: 'best' }, atLeast: 1.6 },
    { metric: throughput, points: at120, against: { peer: 'best' }, atLeast: 1.4 },
    { metric: taskP50, points: at80, against: { peer: 'best' }, atMost: 0.55 },
    { metric: taskP50, points: at120, against: { peer: 'best' }, atMost: 0.75 },
    { metric: throughput, against: { defaults: 'llm-d-affinity' }, atLeast: 2.8 },
    {
      metric: throughput,
      points: at120,
      against: { defaults: 'sglang-cache-aware' },
      atLeast: 2.4,
    },
    { metric: slowdownMax, atMost: 10 },
  ],
}

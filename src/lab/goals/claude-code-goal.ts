/** Sessions of Claude Code, over memory and over how many are open at once. */
import type { Goal, GoalPoint } from './goal.ts'
import { steadyThroughput, taskP50, ttftP50, ttftP90 } from './goal-metrics.ts'

const sessions = 120
const recording = 'traces/claude-code-compact.jsonl.gz'

function point(kvMillions: number, atOnce: number): GoalPoint {
  const all = Math.max(sessions, Math.ceil(1.6 * atOnce))
  return {
    name: nameOf(kvMillions, atOnce),
    ...(atOnce === 64 ? { x: kvMillions * 1e6 } : {}),
    workload: `recorded,sessions=${all},atOnce=${atOnce}`,
    recording,
    fleet: `8xqwen3-coder-480b-tpu-v7x:kvTokens=${kvMillions * 1e6}`,
    ...(atOnce === 64 && quickKv.includes(kvMillions) ? {} : { fullOnly: true }),
  }
}

const nameOf = (kvMillions: number, atOnce: number): string => `${kvMillions}M, ${atOnce} at once`

const quickKv = [0.4, 0.8]
const kvAt64 = [0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.6, 3.2]
const kvElsewhere = [0.2, 0.4, 0.8, 3.2]

const enough = [nameOf(0.8, 64)]
const scarce = [0.3, 0.4, 0.5].map((kv) => nameOf(kv, 64))
const best = { peer: 'best' } as const

export const G4: Goal = {
  name: 'G4',
  title: 'recorded Claude Code sessions',
  rank: steadyThroughput,
  axis: { label: 'KV memory per replica, tokens, 64 sessions at once', scale: 'log' },
  points: [
    ...kvAt64.map((kv) => point(kv, 64)),
    ...[16, 32, 128].flatMap((atOnce) => kvElsewhere.map((kv) => point(kv, atOnce))),
  ],
  claims: [
    {
      metric: steadyThroughput,
      points: enough,
      against: { defaults: 'round-robin' },
      atLeast: 1.85,
    },
    { metric: taskP50, points: enough, against: { defaults: 'round-robin' }, atMost: 0.45 },
    { metric: steadyThroughput, points: enough, against: { defaults: 'dynamo' }, atLeast: 1.4 },
    { metric: steadyThroughput, points: enough, against: { defaults: 'lmetric' }, atLeast: 1.2 },
    { metric: steadyThroughput, points: [scarce[0]!], against: best, atLeast: 1.15 },
    { metric: steadyThroughput, points: [scarce[1]!], against: best, atLeast: 1.2 },
    { metric: steadyThroughput, points: [scarce[2]!], against: best, atLeast: 1.25 },
    { metric: taskP50, points: scarce, against: best, atMost: 0.85 },
    { metric: ttftP50, points: scarce, against: best, atMost: 0.5 },
    { metric: ttftP90, points: scarce, against: best, atMost: 0.6 },
    { metric: steadyThroughput, against: best, atLeast: 0.98 },
  ],
}

/** What an arm is called that counts what host memory holds. */
const tierAware = [
  'llm-d-blend:host 0.8',
  'llm-d-affinity:host counted',
  'sglang-cache-aware:true caches and host',
  'lmetric:host counted',
  ...['dynamo', 'dynamo:w 0.1', 'dynamo:w 0.3', 'dynamo:w 3', 'dynamo:w 10'],
]

function tiered(hostMillions: number): GoalPoint {
  return {
    name: `${hostMillions}M host`,
    workload: `recorded,sessions=${sessions},atOnce=64`,
    recording,
    fleet: `8xqwen3-coder-480b-tpu-v7x:kvTokens=300000:hostTokens=${hostMillions * 1e6}`,
    ...(hostMillions === 2 ? { fullOnly: true } : {}),
  }
}

export const G4h: Goal = {
  name: 'G4h',
  title: 'recorded Claude Code sessions, with host memory behind the GPU',
  rank: steadyThroughput,
  points: [tiered(0.4), tiered(1), tiered(2)],
  claims: [
    {
      metric: steadyThroughput,
      points: ['0.4M host'],
      against: { bestOf: tierAware },
      atLeast: 1.1,
    },
    {
      metric: steadyThroughput,
      points: ['1M host'],
      against: { bestOf: tierAware },
      atLeast: 1.05,
    },
    { metric: steadyThroughput, points: ['2M host'], against: { bestOf: tierAware }, atLeast: 1 },
    {
      metric: steadyThroughput,
      points: ['0.4M host'],
      against: { bestBut: tierAware },
      atLeast: 1.3,
    },
    {
      metric: steadyThroughput,
      points: ['1M host'],
      against: { bestBut: tierAware },
      atLeast: 1.7,
    },
  ],
}

/** Engines of several speeds, and one that gets slower while it runs. */
import type { Goal, GoalPoint } from './goal.ts'
import { goodput, goodputRatioOf, ttftP95 } from './goal-metrics.ts'

/** A profile whose prefill and whose memory are so many times slower. */
function slower(prefill: number, memory: number): string {
  const of = (ms: number, times: number): number => Number((ms * times).toPrecision(3))
  return [
    'qwen3-32b-2xh100',
    `t0Ms=${of(13.5, memory)}`,
    `prefillMsPerToken=${of(0.048, prefill)}`,
    `pairMs=${of(2.1e-6, prefill)}`,
    `contextMsPerToken=${of(6e-5, memory)}`,
    `logicalContextMsPerToken=${of(0.9e-5, memory)}`,
  ].join(':')
}

/** Half of the fleet four times slower in everything. */
const halfSlow: GoalPoint = {
  name: 'half slow',
  workload: 'unshared,perSecond=7,seconds=900',
  fleet: `4xqwen3-32b-2xh100,4x${slower(4, 4)}`,
}

/** By their data sheets: an A100 to an H100, and something older still. */
const generations: GoalPoint = {
  name: 'three generations',
  workload: 'unshared,perSecond=9,seconds=900',
  fleet: `4xqwen3-32b-2xh100,2x${slower(3.2, 1.6)},2x${slower(4, 3)}`,
  fullOnly: true,
}

const slowsAtMs = 300_000
const after = (seconds: number): number => slowsAtMs + seconds * 1_000

/** A fast engine takes four times as long from one moment on. */
const degrading: GoalPoint = {
  name: 'one slows down',
  workload: 'unshared,perSecond=7,seconds=900',
  fleet: `4xqwen3-32b-2xh100,2x${slower(3.2, 1.6)},2x${slower(4, 3)}`,
  more: {
    changes: [{ type: 'slow', atMs: slowsAtMs, endpoint: 'http://engine-0', factor: 4 }],
    windows: {
      'first minute': { fromMs: slowsAtMs, toMs: after(60) },
      'a minute later': { fromMs: after(60), toMs: after(180) },
      'long after': { fromMs: after(300), toMs: after(600) },
    },
  },
}

export const G6: Goal = {
  name: 'G6',
  title: 'a mixed fleet, and an engine that slows down',
  rank: goodput,
  points: [halfSlow, generations, degrading],
  claims: [
    { metric: ttftP95, against: { defaults: 'round-robin' }, atMost: 0.03 },
    { metric: goodput, against: { tuned: 'lmetric' }, atLeast: 1.25 },
    { metric: goodput, against: { defaults: 'least-request' }, atLeast: 1.25 },
    { metric: goodput, against: { tuned: 'llm-d-blend' }, atLeast: 0.99 },
    {
      metric: goodputRatioOf('a minute later', 'long after'),
      points: [degrading.name],
      atLeast: 0.95,
    },
  ],
}

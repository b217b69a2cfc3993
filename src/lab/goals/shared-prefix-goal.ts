/** llm-d's ladder: groups of users that share a long system prompt, at growing rates. */

import { ladderWarmUpSeconds, publishedLadder } from '../fidelity/published-ladder.ts'
import { meanMetric } from '../measure/compare.ts'
import { sloDefaults } from '../measure/goodput.ts'
import { warmUpDrainSeconds } from '../workload/workloads.ts'
import type { Goal, GoalPoint } from './goal.ts'
import { worstSeed } from './goal-metrics.ts'

/** Each stage by itself, behind the warm-up, as llm-d's load generator runs them. */
function stage({ perSecond, seconds }: { perSecond: number; seconds: number }): GoalPoint {
  const fromMs = (ladderWarmUpSeconds + warmUpDrainSeconds) * 1_000
  const options = `perSecond=${perSecond},seconds=${seconds},warmUpSeconds=${ladderWarmUpSeconds}`
  return {
    name: `${perSecond}/s`,
    x: perSecond,
    workload: `shared-prefix,${options}`,
    fleet: '8xqwen3-32b-2xh100',
    more: { windows: { stage: { fromMs, toMs: fromMs + seconds * 1_000 } } },
    ...(quickRates.includes(perSecond) ? {} : { fullOnly: true }),
  }
}

const quickRates = [15, 30, 60]

const output = meanMetric(
  'output tokens/s',
  true,
  ({ windows }) => windows.stage!.served.outputTokens,
)
const ttftMean = meanMetric('TTFT mean ms', false, ({ windows }) => windows.stage!.ttftMs.mean)
const captured = meanMetric('captured reuse', true, ({ windows }) => windows.stage!.reuse.captured)

export const G1: Goal = {
  name: 'G1',
  title: 'shared system prompts, at growing rates',
  rank: output,
  axis: { label: 'requests per second' },
  points: publishedLadder.map(stage),
  claims: [
    { metric: output, across: true, against: { defaults: 'round-robin' }, atLeast: 2.3 },
    { metric: ttftMean, across: true, against: { defaults: 'round-robin' }, atMost: 0.01 },
    { metric: output, against: { peer: 'best' }, atLeast: 0.99 },
    { metric: captured, across: true, atLeast: 0.95 },
    { metric: worstSeed(ttftMean), atMost: sloDefaults.ttftMs },
  ],
}

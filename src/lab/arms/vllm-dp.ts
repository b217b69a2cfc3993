import type { Policy } from '../../core/policy/policy.ts'
import { rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'

/** `waitingWeight · waiting + running`, as vLLM's data-parallel coordinator counts. */
function vllmDp(waitingWeight: number): Policy {
  return {
    name: 'vllm-dp',
    rank(_request, candidates, context) {
      const scores = candidates.map(({ queued, inFlight }) => {
        return waitingWeight * queued + inFlight - queued
      })
      return rankByScore(scores, context, (best) => `load ${scores[best]}`)
    },
  }
}

export const vllmDataParallel: Arm = {
  name: 'vllm-dp',
  source: 'vLLM data-parallel load balancing: 4 · waiting + running, counted at this instant.',
  variants: [{ label: 'defaults', policy: () => vllmDp(4) }],
}

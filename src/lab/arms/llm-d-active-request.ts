import type { Policy } from '../../core/policy/policy.ts'
import { rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { matchShare } from './load.ts'

/** Prefix score against requests in flight: an idle endpoint scores 1, the busiest 0. */
function activeRequest(prefixWeight: number, activeWeight: number): Policy {
  return {
    name: 'llm-d-active-request',
    rank(request, candidates, context) {
      const most = Math.max(...candidates.map(({ inFlight }) => inFlight))
      const scores = candidates.map((one) => {
        const active = one.inFlight === 0 ? 1 : (most - one.inFlight) / most
        return -(prefixWeight * matchShare(one, request, 0) + activeWeight * active)
      })
      return rankByScore(scores, context, (best) => `score ${(-scores[best]!).toFixed(2)}`)
    },
  }
}

export const llmdActiveRequest: Arm = {
  name: 'llm-d-active-request',
  source: 'llm-d: prefix-cache-scorer 3 with active-request-scorer 2 in place of queue and KV.',
  variants: [
    { label: 'defaults', policy: () => activeRequest(3, 2) },
    { label: '1/1', policy: () => activeRequest(1, 1) },
    { label: '6/1', policy: () => activeRequest(6, 1) },
  ],
}

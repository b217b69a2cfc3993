import type { Policy } from '../../core/policy/policy.ts'
import { rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { cachedTokens } from './load.ts'

/** New prefill tokens times batch size: no weights. */
function lmetric(hostCredit: number): Policy {
  return {
    name: 'lmetric',
    rank(request, candidates, context) {
      const scores = candidates.map((one) => {
        const uncached = request.promptTokens - cachedTokens(one, hostCredit)
        return (one.queuedTokens + uncached) * (one.inFlight + 1)
      })
      return rankByScore(scores, context, (best) => `${Math.round(scores[best]!)} token-requests`)
    },
  }
}

export const lmetricArm: Arm = {
  name: 'lmetric',
  source:
    'LMetric, arXiv 2603.15202: prefill tokens there with this request, times requests there.',
  variants: [
    { label: 'defaults', policy: () => lmetric(0) },
    { label: 'host counted', policy: () => lmetric(1) },
  ],
}

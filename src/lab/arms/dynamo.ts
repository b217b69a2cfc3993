import type { Policy } from '../../core/policy/policy.ts'
import { rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { cachedTokens } from './load.ts'

/** Only the ratio of the two terms matters, and both are in blocks of this many tokens. */
const blockTokens = 16
const hostCredit = 0.75

/**
 * Blocks to prefill, the queue's and its own, times a weight, and blocks that decode there:
 * `w · (queued + prompt − overlap) + active`.
 */
function dynamo(prefillWeight: number): Policy {
  return {
    name: 'dynamo',
    rank(request, candidates, context) {
      const scores = candidates.map((one) => {
        const overlap = cachedTokens(one, hostCredit)
        const prefill = Math.max(0, one.queuedTokens + request.promptTokens - overlap)
        return (prefillWeight * prefill + one.contextTokens) / blockTokens
      })
      return rankByScore(scores, context, (best) => `${Math.round(scores[best]!)} blocks`)
    },
  }
}

const variant = (label: string, weight: number) => ({ label, policy: () => dynamo(weight) })

export const dynamoKv: Arm = {
  name: 'dynamo',
  source:
    'NVIDIA Dynamo KV router: prefill_load_scale 1, temperature 0, overlap credit 1 for GPU and ' +
    '0.75 for host memory. Active blocks are counted per request, shared or not.',
  variants: [
    variant('defaults', 1),
    variant('w 0.1', 0.1),
    variant('w 0.3', 0.3),
    variant('w 3', 3),
    variant('w 10', 10),
  ],
}

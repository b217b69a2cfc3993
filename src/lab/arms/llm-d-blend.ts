import type { Policy } from '../../core/policy/policy.ts'
import { rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { kvUsage, leastIsOne, matchShare } from './load.ts'

interface Weights {
  readonly prefix: number
  readonly queue: number
  readonly kv: number
  /** What a token in host memory counts of one in GPU memory. */
  readonly host: number
}

const defaults: Weights = { prefix: 3, queue: 2, kv: 2, host: 0 }

/** A weighted sum of unlike scores, each from 0 to 1; the greatest wins, ties are drawn. */
function blend(weights: Weights): Policy {
  return {
    name: 'llm-d-blend',
    rank(request, candidates, context) {
      const queue = leastIsOne(candidates.map(({ queued }) => queued))
      const scores = candidates.map((one, i) => {
        const prefix = weights.prefix * matchShare(one, request, weights.host)
        return -(prefix + weights.queue * queue[i]! + weights.kv * (1 - kvUsage(one)))
      })
      return rankByScore(scores, context, (best) => `score ${(-scores[best]!).toFixed(2)}`)
    },
  }
}

const variant = (label: string, changed: Partial<Weights>) => ({
  label,
  policy: () => blend({ ...defaults, ...changed }),
})

export const llmdBlend: Arm = {
  name: 'llm-d-blend',
  source:
    'llm-d: prefix-cache-scorer 3, queue-scorer 2, kv-cache-utilization-scorer 2, ' +
    'max-score picker. The queue is the requests without a first token at this instant.',
  variants: [
    variant('defaults', {}),
    variant('1/1/1', { prefix: 1, queue: 1, kv: 1 }),
    variant('6/2/2', { prefix: 6 }),
    variant('3/4/1', { queue: 4, kv: 1 }),
    variant('host 0.8', { host: 0.8 }),
    // Of the guide for tiers: a scorer for each, and what the GPU holds is in the host, too.
    variant('tiers', { prefix: 2, queue: 1, kv: 1, host: 0.5 }),
  ],
}

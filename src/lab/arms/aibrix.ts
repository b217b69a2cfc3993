import type { Policy } from '../../core/policy/policy.ts'
import { inFlightScores, rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { RememberedPrefixes } from './remembered-prefixes.ts'

/** 200,000 blocks of 128 bytes, shared by all pods of a model. */
const tableTokens = (200_000 * 128) / 4

/** Best match first among those not busier than mean + k·σ; a wide spread leaves the least busy. */
function prefixCache(spreadMax: number, deviations: number, pods: number): Policy {
  const tree = new RememberedPrefixes(tableTokens / pods)
  return {
    name: 'aibrix',
    rank(request, candidates, context) {
      const load = inFlightScores(candidates)
      const least = Math.min(...load)
      const spread = Math.max(...load) - least
      const mean = load.reduce((sum, one) => sum + one, 0) / load.length
      const variance = load.reduce((sum, one) => sum + (one - mean) ** 2, 0) / load.length
      const limit = mean + deviations * Math.sqrt(variance)
      const matched = tree.shares(request, candidates)
      const scores = load.map((one, i) => {
        if (spread > spreadMax && one > least) return 1e9 + one
        if (one > limit) return 1e6 + one
        return -1_000 * Math.round(100 * matched[i]!) + one
      })
      return rankByScore(scores, context, () => 'best match within the load limit')
    },
    dispatched(request, candidate) {
      tree.dispatched(request, candidate)
    },
  }
}

export const aibrix: Arm = {
  name: 'aibrix',
  source:
    'AIBrix prefix-cache: spread limit 8 and one standard deviation in the code, 16 and ' +
    'two in its manifest; a table of 200,000 blocks of 128 bytes, split evenly over eight ' +
    'pods.',
  variants: [
    { label: 'defaults', policy: () => prefixCache(8, 1, 8) },
    { label: 'manifest', policy: () => prefixCache(16, 2, 8) },
  ],
}

import type { Policy } from '../../core/policy/policy.ts'
import { rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { RememberedPrefixes } from './remembered-prefixes.ts'

/** A random one of those that were ever sent the longest prefix; load does not count. */
function prefixAware(): Policy {
  // Its trie is never evicted.
  const tree = new RememberedPrefixes(1e8)
  return {
    name: 'production-stack',
    rank(request, candidates, context) {
      const scores = tree.shares(request, candidates).map((share) => -share)
      return rankByScore(scores, context, () => 'sent the longest prefix')
    },
    dispatched(request, candidate) {
      tree.dispatched(request, candidate)
    },
  }
}

export const productionStack: Arm = {
  name: 'production-stack',
  source: 'vLLM production-stack, prefixaware: random holder of the deepest match, no load term.',
  variants: [{ label: 'defaults', policy: prefixAware }],
}

import type { Policy } from './policy.ts'
import { rankByScore } from './rank.ts'

/**
 * The longest cached prefix wins, whatever the load. Kept as the textbook pathology: one block that
 * all prompts share sends everything to one endpoint.
 */
export function prefixOnly(): Policy {
  return {
    name: 'prefix-only',
    rank(_request, candidates, context) {
      const scores = candidates.map((candidate) => -(candidate.gpuTokens + candidate.hostTokens))
      return rankByScore(scores, context, (best) => `longest prefix, ${-scores[best]!} tokens`)
    },
  }
}

import type { Cost, Policy } from './policy.ts'
import { rankByScore } from './rank.ts'

/**
 * Predicted milliseconds, the request's own and those it takes from others: everything that could
 * matter is in that one number, so there are no weights and no modes.
 */
export function warmpathPolicy(): Policy {
  return {
    name: 'warmpath',
    rank(request, candidates, context) {
      const scores = candidates.map((candidate) => totalMs(candidate.cost()))
      return rankByScore(scores, context, (best, tie) => {
        const { gpuTokens, hostTokens } = candidates[best]!
        const cached = Math.round(gpuTokens + hostTokens)
        const cachedText = `${cached} of ${Math.round(request.promptTokens)} tokens cached`
        return `${cachedText}, ${Math.round(scores[best]!)} ms${tie ? ', tie rotated' : ''}`
      })
    },
  }
}

/** The one number: the request's own time and the time it takes from others. */
function totalMs(cost: Cost): number {
  return cost.waitMs + cost.prefillMs + cost.decodeMs + cost.externalityMs
}

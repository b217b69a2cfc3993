import type { Policy } from './policy.ts'
import { inFlightScores, rankByScore } from './rank.ts'

/** Fewest requests in flight, as counted by this router at dispatch. */
export function leastRequest(): Policy {
  return {
    name: 'least-request',
    rank(_request, candidates, context) {
      return rankByScore(inFlightScores(candidates), context, (best, tie) =>
        tie
          ? `${candidates[best]!.inFlight} in flight, tie rotated`
          : `${candidates[best]!.inFlight} in flight, the fewest`,
      )
    },
  }
}

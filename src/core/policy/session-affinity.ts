import type { Policy } from './policy.ts'
import { inFlightScores, rankByScore, rankWithFirst } from './rank.ts'

/** A session stays where it is; a new one goes to the least busy endpoint. */
export function sessionAffinity(): Policy {
  return {
    name: 'session-affinity',
    rank(request, candidates, context) {
      const home = candidates.findIndex(
        (candidate) => candidate.endpoint === request.sessionEndpoint,
      )
      if (home >= 0) return rankWithFirst(home, candidates, context, 'the session is there')
      const why = request.sessionEndpoint === null ? 'new session' : 'its endpoint cannot serve'
      return rankByScore(inFlightScores(candidates), context, () => `${why}, least busy`)
    },
  }
}

import { randomInt } from '../../base/random.ts'
import type { Policy } from './policy.ts'
import { rankWithFirst } from './rank.ts'

/** The less busy of two drawn endpoints (Mitzenmacher, 2001): least-request without herding. */
export function powerOfTwo(): Policy {
  return {
    name: 'power-of-two',
    rank(_request, candidates, context) {
      const count = candidates.length
      const a = randomInt(context.random, count)
      let b = count > 1 ? randomInt(context.random, count - 1) : a
      if (count > 1 && b >= a) b++
      const winner = candidates[b]!.inFlight < candidates[a]!.inFlight ? b : a
      return rankWithFirst(winner, candidates, context, 'less busy of two drawn')
    },
  }
}

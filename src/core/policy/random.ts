import { randomInt } from '../../base/random.ts'
import type { Policy } from './policy.ts'

/** A uniformly drawn order: the control that any clever policy has to beat. */
export function randomPolicy(): Policy {
  return {
    name: 'random',
    rank(_request, candidates, { random }) {
      const order = candidates.map((_, i) => i)
      for (let i = order.length - 1; i > 0; i--) {
        const j = randomInt(random, i + 1)
        const swapped = order[i]!
        order[i] = order[j]!
        order[j] = swapped
      }
      const scores = new Array<number>(order.length)
      order.forEach((candidate, place) => {
        scores[candidate] = place
      })
      return { order, scores, summary: 'drawn at random' }
    },
  }
}

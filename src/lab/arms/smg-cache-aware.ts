import type { Policy } from '../../core/policy/policy.ts'
import { rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { matchShare } from './load.ts'

interface Options {
  readonly threshold: number
  readonly spillAbs: number
  readonly spillRel: number
}

const defaults: Options = { threshold: 0.3, spillAbs: 64, spillRel: 1.5 }

/** The longest match whose holder is not far busier than the average; misses go by load. */
function spillGate({ threshold, spillAbs, spillRel }: Options): Policy {
  return {
    name: 'smg-cache-aware',
    rank(request, candidates, context) {
      const total = candidates.reduce((sum, { inFlight }) => sum + inFlight, 0)
      const mean = total / candidates.length
      const scores = candidates.map((one) => {
        const match = matchShare(one, request, 0)
        const spills = one.inFlight > spillRel * mean && one.inFlight > mean + spillAbs
        const load = one.queuedTokens + one.inFlight
        return match > threshold && !spills ? -1e9 * match + load : load
      })
      return rankByScore(scores, context, (best) =>
        scores[best]! < 0 ? 'longest match' : 'least load',
      )
    },
  }
}

const variant = (label: string, changed: Partial<Options>) => ({
  label,
  policy: () => spillGate({ ...defaults, ...changed }),
})

export const smgCacheAware: Arm = {
  name: 'smg-cache-aware',
  source:
    'SMG upstream at 04def283: a holder is passed over when its own load is above 1.5 ' +
    'times the average and 64 more; ties and misses by queued tokens. Its table of three ' +
    'holders per prefix is taken to know what engines hold.',
  variants: [
    variant('defaults', {}),
    variant('spill 8', { spillAbs: 8 }),
    variant('spill 2', { spillAbs: 2, spillRel: 1.1 }),
    variant('no spill', { spillAbs: Infinity }),
  ],
}

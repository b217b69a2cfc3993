import type { Policy } from '../../core/policy/policy.ts'
import { rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { cachedTokens, matchShare } from './load.ts'

interface Options {
  /** Endpoints that hold this share of the prompt are kept to. */
  readonly threshold: number
  /** Unless the first token would come this much sooner elsewhere. */
  readonly penaltyMs: number
  readonly peakTokensPerSecond: number
  readonly host: number
}

const defaults: Options = {
  threshold: 0.8,
  penaltyMs: 18_000,
  peakTokensPerSecond: 15_928,
  host: 0,
}

/** Sticky until saturated: a filter by affinity, then the least tokens in flight. */
function affinity({ threshold, penaltyMs, peakTokensPerSecond, host }: Options): Policy {
  return {
    name: 'llm-d-affinity',
    rank(request, candidates, context) {
      const ttftMs = candidates.map((one) => (one.queuedTokens / peakTokensPerSecond) * 1_000)
      const sticky = candidates.map((one) => matchShare(one, request, host) >= threshold)
      const soonest = (wanted: boolean): number =>
        Math.min(...ttftMs.filter((_, i) => sticky[i] === wanted))
      const keeps = sticky.includes(true) && soonest(true) - soonest(false) <= penaltyMs
      const scores = candidates.map((one, i) => {
        const tokens = one.queuedTokens + request.promptTokens - cachedTokens(one, host)
        return keeps && !sticky[i] ? 1e9 + tokens : tokens
      })
      return rankByScore(scores, context, () => (keeps ? 'holds the prefix' : 'least tokens'))
    },
  }
}

const variant = (label: string, changed: Partial<Options>) => ({
  label,
  policy: () => affinity({ ...defaults, ...changed }),
})

export const llmdAffinity: Arm = {
  name: 'llm-d-affinity',
  source:
    'llm-d, default since August 2026: prefix-cache-affinity-filter (0.80, released when ' +
    'the first token is 18 s later than elsewhere at 15,928 tokens/s), then ' +
    'token-load-scorer.',
  variants: [
    variant('defaults', {}),
    variant('threshold 0.5', { threshold: 0.5 }),
    variant('penalty 5 s', { penaltyMs: 5_000 }),
    variant('penalty 60 s', { penaltyMs: 60_000 }),
    variant('host counted', { host: 1 }),
  ],
}

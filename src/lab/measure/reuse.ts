import type { SimulatedRequest } from '../simulator/request-record.ts'
import { sumOf } from './spread.ts'

/** What became of the prompt tokens of the requests that got a first token. */
export interface Reuse {
  readonly promptTokens: number
  /** Share of them that the engines found cached. */
  readonly cachedShare: number
  /** Share that a memory without end would have held. */
  readonly reusableShare: number
  /** Cached of reusable: what was made of the chance. Null without a chance. */
  readonly captured: number | null
  /** Tokens computed although they had been before: reusable, and not cached any more. */
  readonly recomputedTokens: number
}

export function reuseOf(requests: readonly SimulatedRequest[]): Reuse {
  const begun = requests.filter(({ firstTokenMs }) => firstTokenMs !== null)
  const total = (of: (request: SimulatedRequest) => number): number => sumOf(begun.map(of))
  const promptTokens = total((one) => one.promptTokens)
  const cachedTokens = total((one) => one.cachedTokens)
  const reusableTokens = total((one) => one.reusableTokens)
  const share = (tokens: number): number => (promptTokens > 0 ? tokens / promptTokens : 0)
  return {
    promptTokens,
    cachedShare: share(cachedTokens),
    reusableShare: share(reusableTokens),
    captured: reusableTokens > 0 ? cachedTokens / reusableTokens : null,
    recomputedTokens: total((one) => Math.max(0, one.reusableTokens - one.cachedTokens)),
  }
}

/** The time between two tokens out of streams that ran at the same time. Pure. */
import type { CallSample } from './engine-under-test.ts'

export interface TokenPace {
  /** Milliseconds per step, while all streams were at it. */
  readonly ms: number
  /** Tokens of all answers together that were there in the middle of that time. */
  readonly answeredTokens: number
}

/** Fewer steps than this, all streams taking part, say too little. */
const stepsMin = 6

/**
 * From the last stream's first token to the first one's last. Null where that time is too short.
 */
export function tokenPace(samples: readonly CallSample[]): TokenPace | null {
  const fromMs = Math.max(...samples.map((sample) => atMs(sample, 0)))
  const toMs = Math.min(...samples.map((sample) => atMs(sample, sample.outputMs.length - 1)))
  const paces = samples
    .map((sample) => paceWithin(sample, fromMs, toMs))
    .filter((pace) => pace !== null)
    .sort((a, b) => a.ms - b.ms)
  if (paces.length * 2 < samples.length) return null
  const { ms } = paces[(paces.length - 1) >> 1]
  const answered = paces.reduce((sum, { answeredTokens }) => sum + answeredTokens, 0)
  return { ms, answeredTokens: (answered / paces.length) * samples.length }
}

/** How many tokens a stream at its own pace has between the first and the last one's beginning. */
export function tokensApart(samples: readonly CallSample[]): number {
  const beginnings = samples.map((sample) => atMs(sample, 0))
  const apartMs = Math.max(...beginnings) - Math.min(...beginnings)
  const paces = samples.map((sample) => paceWithin(sample, 0, Number.POSITIVE_INFINITY))
  const fastestMs = Math.min(...paces.map((pace) => pace?.ms ?? Number.POSITIVE_INFINITY))
  return apartMs / fastestMs
}

function atMs({ sentMs, outputMs }: CallSample, index: number): number {
  return sentMs + outputMs[index]
}

/** A piece of output may hold several tokens, where the engine or the network is late. */
function paceWithin(sample: CallSample, fromMs: number, toMs: number): TokenPace | null {
  const { outputMs, outputTokens } = sample
  const tokensPerPiece = outputTokens / outputMs.length
  const first = outputMs.findIndex((_, i) => atMs(sample, i) >= fromMs)
  const last = outputMs.findLastIndex((_, i) => atMs(sample, i) <= toMs)
  const steps = (last - first) * tokensPerPiece
  if (first < 0 || steps < stepsMin) return null
  const ms = (outputMs[last] - outputMs[first]) / steps
  return ms > 0 ? { ms, answeredTokens: ((first + last) / 2 + 1) * tokensPerPiece } : null
}

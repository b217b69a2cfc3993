/**
 * The step-time model of continuous batching with chunked prefill: a step computes one token for
 * each decoding sequence and fills the rest of its token budget with prompts, first come first
 * served. Published fits reproduce measured throughput within 15 %.
 */
import type { Rates } from './rates.ts'

/** vLLM's default on devices with 70 GiB and more. */
export const batchTokensDefault = 8192

/** A batch of decodes larger than the budget still lets some prompt through. */
const prefillShareMin = 0.125

/** A step without prefill, `t0 + r·sequences + k·context`, ms. */
export function stepTimeMs(rates: Rates, sequences: number, contextTokens: number): number {
  return (
    rates.stepMs + rates.stepMsPerSequence * sequences + rates.stepMsPerContextToken * contextTokens
  )
}

/**
 * By how much prefill lengthens the steps that carry it, together, ms: `a·u + q·u·(c + u/2)`, since
 * each of the u tokens attends to the c cached ones and on average to half of its fellows.
 */
export function prefillComputeMs(
  rates: Rates,
  uncachedTokens: number,
  cachedTokens: number,
): number {
  const pairs = uncachedTokens * (cachedTokens + uncachedTokens / 2)
  return rates.prefillMsPerToken * uncachedTokens + rates.pairMs * pairs
}

/** Prompt tokens that one step computes; decodes take their tokens out of the budget first. */
export function prefillTokensPerStep(batchTokensMax: number | null, sequences: number): number {
  const budget = batchTokensMax ?? batchTokensDefault
  return Math.max(budget - sequences, budget * prefillShareMin)
}

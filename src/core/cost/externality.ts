/**
 * What a request takes from others, in ms summed over those others. Time taken from someone else
 * counts as much as the request's own: the sum then is what the choice adds to the completion
 * times of all requests together.
 */
import type { Rates } from './rates.ts'

/** Requests that are or will be decoding while the new one is served. */
export interface Bystanders {
  readonly decodes: number
  /** Output tokens left of each decode, on average. */
  readonly remainingTokensMean: number
  /** Dispatched and not decoding yet; they will be when the new one's turn comes. */
  readonly queued: number
}

/**
 * Chunked prefill lets every decode have a token in each step, but the steps that carry prefill are
 * longer, together by its compute time. A decode that lasts through all of them ends later by all
 * of that, one with n tokens left by no more than n full steps' worth: `Σ min(compute, n · full)`.
 *
 * @param stepComputeMs compute time of the prefill that fills one step
 */
export function stalledDecodesMs(
  computeMs: number,
  stepComputeMs: number,
  others: Bystanders,
  outputTokens: number,
): number {
  const decodes = others.decodes * Math.min(computeMs, others.remainingTokensMean * stepComputeMs)
  return decodes + others.queued * Math.min(computeMs, outputTokens * stepComputeMs)
}

/**
 * Decoding beside others makes each common step longer by `r + k·context`, for as many steps as
 * both have left.
 */
export function slowedDecodesMs(
  rates: Rates,
  contextTokens: number,
  others: Bystanders,
  outputTokens: number,
): number {
  const stepMs = rates.stepMsPerSequence + rates.stepMsPerContextToken * contextTokens
  const decodes = others.decodes * Math.min(outputTokens, others.remainingTokensMean)
  return stepMs * (decodes + others.queued * outputTokens)
}

/**
 * Whoever arrives before the new request's prefill is done stands behind it: all of its prefill
 * for those who come during the backlog, half of it on average for those who come during the
 * prefill itself: `λ·prefill·(backlog + prefill / 2)`.
 */
export function delayedWaitersMs(
  arrivalsPerMs: number,
  prefillMs: number,
  backlogMs: number,
): number {
  return arrivalsPerMs * prefillMs * (backlogMs + prefillMs / 2)
}

/** The memory that a request finds, and what becomes of the context that it pushes out. Tokens. */
export interface Eviction {
  readonly newTokens: number
  /** Memory that holds nothing worth keeping. */
  readonly freeTokens: number
  /** Host memory keeps what leaves GPU memory. */
  readonly intoHost: boolean
  /** Chance that evicted context is wanted again. */
  readonly reuseShare: number
  /** Others' contexts are taken to be as long as this prompt. */
  readonly promptTokens: number
}

/**
 * Tokens that need memory beyond what is free push out as many cached ones. If wanted again, each
 * costs its reload from host memory or its prefill, at the depth of half a prompt.
 */
export function evictedContextMs(rates: Rates, eviction: Eviction): number {
  const { newTokens, freeTokens, intoHost, reuseShare, promptTokens } = eviction
  const evicted = Math.max(0, newTokens - freeTokens)
  if (intoHost) return evicted * reuseShare * rates.hostReloadMsPerToken
  return evicted * reuseShare * (rates.prefillMsPerToken + (rates.pairMs * promptTokens) / 2)
}

import type { Rates } from './rates.ts'
import { priorRates } from './rates.ts'

/** Time to first token of one request, and what stood in its way at dispatch. */
export interface PrefillObservation {
  readonly atMs: number
  readonly ttftMs: number
  /** Uncached prompt tokens that were dispatched before and had no first token yet. */
  readonly aheadTokens: number
  /** Its own prompt tokens that were computed. */
  readonly uncachedTokens: number
  /** Its prompt tokens that were not, those of the host tier included. */
  readonly cachedTokens: number
  readonly hostTokens: number
  readonly decodingSequences: number
  readonly decodingContextTokens: number
  /** Prompt tokens of one step; null or left out where the engine does not say. */
  readonly batchTokensMax?: number | null
  /** What the router believed at dispatch; left out where it believed nothing. */
  readonly predictedTtftMs?: number
}

/** Mean time between the output tokens of one request, and what ran beside it. */
export interface DecodeObservation {
  readonly atMs: number
  readonly msPerToken: number
  /** Decoding sequences, itself included. */
  readonly sequences: number
  readonly contextTokens: number
  /** Prompt tokens that the endpoint computed meanwhile, per output token of this request. */
  readonly prefillTokensPerToken?: number
}

export class RateEstimator {
  #rates: Rates
  samples = 0
  relativeError = 0

  constructor(prior: Rates = priorRates) {
    this.#rates = prior
  }

  prefillObserved(_observation: PrefillObservation): void {}

  decodeObserved(_observation: DecodeObservation): void {}

  rates(): Rates {
    return this.#rates
  }
}

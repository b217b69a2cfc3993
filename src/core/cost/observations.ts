/** What requests took, in the form that the rate estimator learns from. */

/** What an endpoint had to do until a request's first token. Tokens. */
export interface PrefillWork {
  /** Its own prompt tokens that were computed; where the engine reported, as reported. */
  readonly uncachedTokens: number
  /** Its prompt tokens that were not computed, those of the host tier included. */
  readonly cachedTokens: number
  readonly hostTokens: number
  /** Uncached prompt tokens of other requests that were computed in the same time. */
  readonly aheadTokens: number
  readonly decodingSequences: number
  readonly decodingContextTokens: number
  /** Token budget of one step; null where the engine does not say. */
  readonly batchTokensMax: number | null
}

export interface PrefillObservation extends PrefillWork {
  readonly atMs: number
  /** From the start of its service to its first token; see service-meter.ts. */
  readonly serviceMs: number
  /** Between its dispatch and the start of its service. */
  readonly waitedMs: number
  /** It may have waited for KV memory or a place in the batch, so its time says little of rates. */
  readonly crowded: boolean
}

/** A request of which only the whole was seen, because its answer was not streamed. */
export interface WholeObservation extends PrefillWork {
  readonly atMs: number
  /** From dispatch to the end. */
  readonly wholeMs: number
  readonly outputTokens: number
  readonly crowded: boolean
}

/** The time between the output tokens of one request, and what ran beside it, on average. */
export interface DecodeObservation {
  readonly atMs: number
  readonly msPerToken: number
  /** Decoding sequences, itself included. */
  readonly sequences: number
  readonly contextTokens: number
  /** Prompt tokens, and pairs of them, that the endpoint computed per output token of it. */
  readonly prefillTokensPerToken: number
  readonly prefillPairsPerToken: number
}

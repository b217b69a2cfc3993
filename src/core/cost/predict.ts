/** What placing a request on an endpoint would cost, in ms: its own time and that of others. */
import type { Cost } from '../policy/policy.ts'
import type { Rates } from './rates.ts'

/** What is on an endpoint now. Tokens unless the name says otherwise. */
export interface EndpointLoad {
  /** Until the prefill of everything dispatched before is done. */
  readonly backlogMs: number
  /** Uncached prompt tokens of requests without a first token. */
  readonly queuedTokens: number
  /** Requests there, ours and others', decoding or not. */
  readonly running: number
  readonly decodingSequences: number
  readonly decodingContextTokens: number
  /** Output tokens still expected of those, together. */
  readonly decodingRemainingTokens: number
  /** Prompt and output so far of everything in flight, shared prefixes counted each time. */
  readonly contextTokens: number
  /** Null where unknown: then nothing ever waits for room. */
  readonly kvCapacityTokens: number | null
  readonly runningMax: number | null
  /** Prompt tokens of one step. */
  readonly batchTokensMax: number | null
  /** KV memory that holds nothing worth keeping. */
  readonly freeCacheTokens: number
  readonly arrivalsPerMs: number
  /**
   * Distinct KV tokens in use per token of context in flight, at most 1: less where requests share
   * prefixes. Left out, nothing is shared.
   */
  readonly residentShare?: number
  /** Chance that evicted context is wanted again; left out, a half. */
  readonly reuseShare?: number
}

/** The request on that endpoint. Tokens. */
export interface RequestWork {
  readonly promptTokens: number
  readonly gpuTokens: number
  readonly hostTokens: number
  readonly outputTokens: number
}

export function predictCost(_rates: Rates, _load: EndpointLoad, _request: RequestWork): Cost {
  return { waitMs: 0, prefillMs: 0, decodeMs: 0, externalityMs: 0 }
}

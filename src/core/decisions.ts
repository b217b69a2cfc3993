/** Everything the core can decide, each with its reasons. */
import type { ErrorCode } from '../base/errors.ts'
import type { EndpointKey } from './events.ts'

/** What the router thought of one candidate. Durations in ms, all predicted. */
export interface CandidateReasons {
  readonly endpoint: EndpointKey
  /** Prompt tokens believed to be cached there, by tier. */
  readonly gpuTokens: number
  readonly hostTokens: number
  /** Until its prefill starts: work ahead of it, and waiting for KV room or a running slot. */
  readonly waitMs: number
  /** Its own prefill, with the reload of host-tier tokens. */
  readonly prefillMs: number
  /** From first to last token. */
  readonly decodeMs: number
  /** Time taken from others: stalled decodes, delayed waiters, evicted context. */
  readonly externalityMs: number
  /** What the policy ranked by, lower first: for `warmpath` the sum of the above in ms. */
  readonly score: number
}

/** Why a request went where it went. */
export interface Reasons {
  readonly policy: string
  /** One short phrase: `cached 12,288 of 14,020 tokens`, `least work`, `tie, rotated`. */
  readonly summary: string
  /** Best first; at most `limits.explainedCandidatesMax`. */
  readonly candidates: readonly CandidateReasons[]
  /** Endpoints that serve the model but could not be chosen, with the reason. */
  readonly excluded: readonly { readonly endpoint: EndpointKey; readonly reason: string }[]
}

/** Send the request there now. Its work is already on that endpoint's ledger. */
export interface Dispatch {
  readonly type: 'dispatch'
  readonly requestId: string
  readonly endpoint: EndpointKey
  /** 1 for the first try. */
  readonly attempt: number
  readonly sessionId: string | null
  readonly promptTokens: number
  /** Tokens believed cached there: gpu and host. */
  readonly cachedTokens: number
  /** From dispatch to first token, predicted. */
  readonly predictedTtftMs: number
  /** How long it was held at the router. */
  readonly queueWaitMs: number
  readonly reasons: Reasons
}

/** Keep the client waiting; a later event or timer will release it. */
export interface Hold {
  readonly type: 'hold'
  readonly requestId: string
  readonly reason: string
  /** When it will be refused at the latest. */
  readonly deadlineMs: number
}

/** Answer with this error. The request is forgotten. */
export interface Refuse {
  readonly type: 'refuse'
  readonly requestId: string
  readonly code: ErrorCode
  /** For the client, in a sentence: what is wrong and what to do. */
  readonly message: string
  /** When trying again makes sense; null when it does not. */
  readonly retryAfterMs: number | null
}

/** Send a `timer-due` at that time. A later `wake` replaces an earlier one. */
export interface Wake {
  readonly type: 'wake'
  readonly atMs: number
}

export type Decision = Dispatch | Hold | Refuse | Wake

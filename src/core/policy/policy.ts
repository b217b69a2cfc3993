/** How a policy sees the world, and what it answers. One file per policy, one conformance suite. */
import type { Random } from '../../base/random.ts'
import type { BlockChain } from '../block-chain.ts'
import type { EndpointKey } from '../events.ts'
import type { EngineSignals } from '../fleet/endpoint.ts'

/** The request, as far as a policy may know it. */
export interface RequestView {
  readonly requestId: string
  readonly chain: BlockChain
  readonly promptTokens: number
  /** Expected output, learned per model and bounded by the client's limit. */
  readonly outputTokens: number
  /** From a header or recognised from content; null when neither told. */
  readonly sessionId: string | null
  /** The endpoint that served the session's last request; null when it has none. */
  readonly sessionEndpoint: EndpointKey | null
  readonly tenant: string
}

/** Predicted effect of placing the request on one endpoint. Milliseconds. */
export interface Cost {
  readonly waitMs: number
  readonly prefillMs: number
  readonly decodeMs: number
  readonly externalityMs: number
}

/** One endpoint that could take the request now. */
export interface Candidate {
  readonly endpoint: EndpointKey
  /** Grows by one with each endpoint that ever joined; stable, so a total order for ties. */
  readonly slot: number
  /** Requests on the ledger. */
  readonly inFlight: number
  /** Of those, requests whose first token has not come. */
  readonly queued: number
  /** Uncached prompt tokens on the ledger whose first token has not come. */
  readonly queuedTokens: number
  /** Context tokens (prompt and output so far) of requests on the ledger. */
  readonly contextTokens: number
  readonly kvCapacityTokens: number
  /** Tokens of the prompt believed cached, by tier. */
  readonly gpuTokens: number
  readonly hostTokens: number
  /** The last scrape; null when there was none, or it is too old to mean anything. */
  readonly signals: EngineSignals | null
  /** Computed on first use, then kept. */
  cost(): Cost
}

export interface Ranking {
  /** Indices into `candidates`, best first, each exactly once. */
  readonly order: readonly number[]
  /** What each candidate was ranked by, lower first; same indices as `candidates`. */
  readonly scores: readonly number[]
  /** One short phrase for the explanation. */
  readonly summary: string
}

export interface PolicyContext {
  readonly nowMs: number
  readonly random: Random
}

export interface Policy {
  readonly name: string
  /** Ranks one or more candidates. State changes in `dispatched`: a ranking may come to nothing. */
  rank(request: RequestView, candidates: readonly Candidate[], context: PolicyContext): Ranking
  /** The request was dispatched there (the first of the ranking, unless failing over). */
  dispatched?(request: RequestView, candidate: Candidate, context: PolicyContext): void
  /** The endpoint's instance is gone; forget what was known of it. */
  endpointGone?(endpoint: EndpointKey): void
}

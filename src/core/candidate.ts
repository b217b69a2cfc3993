/** A candidate as the policies see it; its cost is computed on first use. */
import type { CandidateReasons } from './decisions.ts'
import type { EndpointKey } from './events.ts'
import type { EngineSignals } from './fleet/endpoint.ts'
import type { EndpointState } from './fleet/endpoint-state.ts'
import type { Candidate, Cost } from './policy/policy.ts'

export type CachedTokens = Pick<EndpointCandidate, 'gpuTokens' | 'hostTokens' | 'matchedTokens'>

export class EndpointCandidate implements Candidate {
  readonly state: EndpointState
  readonly endpoint: EndpointKey
  readonly slot: number
  readonly inFlight: number
  readonly queued: number
  readonly queuedTokens: number
  readonly contextTokens: number
  readonly kvCapacityTokens: number
  readonly gpuTokens: number
  readonly hostTokens: number
  /** Tokens matched in both tiers, before the trust in the belief was taken into account. */
  readonly matchedTokens: number
  readonly signals: EngineSignals | null
  readonly #predict: (candidate: EndpointCandidate) => Cost
  #cost: Cost | null = null

  constructor(
    state: EndpointState,
    cached: CachedTokens,
    kvCapacityTokens: number,
    nowMs: number,
    predict: (candidate: EndpointCandidate) => Cost,
  ) {
    this.state = state
    this.endpoint = state.key
    this.slot = state.slot
    this.inFlight = state.ledger.inFlight
    this.queued = state.ledger.queued
    this.queuedTokens = state.ledger.queuedTokens
    this.contextTokens = state.ledger.contextTokens
    this.kvCapacityTokens = kvCapacityTokens
    this.gpuTokens = cached.gpuTokens
    this.hostTokens = cached.hostTokens
    this.matchedTokens = cached.matchedTokens
    this.signals = state.signals(nowMs)
    this.#predict = predict
  }

  cost(): Cost {
    this.#cost ??= this.#predict(this)
    return this.#cost
  }

  reasons(score: number): CandidateReasons {
    const { waitMs, prefillMs, decodeMs, externalityMs } = this.cost()
    const { endpoint, gpuTokens, hostTokens } = this
    return { endpoint, gpuTokens, hostTokens, waitMs, prefillMs, decodeMs, externalityMs, score }
  }
}

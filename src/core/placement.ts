/** From endpoints to candidates: what each holds of the prompt, and what it would cost there. */
import { blockBytes } from './block-chain.ts'
import { type CachedTokens, EndpointCandidate } from './candidate.ts'
import { predictCost } from './cost/predict.ts'
import type { RequestArrived } from './events.ts'
import type { EndpointState } from './fleet/endpoint-state.ts'
import type { Learning } from './learning.ts'
import type { Prediction } from './open-request.ts'
import type { Cost, RequestView } from './policy/policy.ts'
import type { PrefixIndex, TierMatch } from './prefix/prefix-index.ts'

/** Larger block sizes are a hybrid model's bookkeeping, not what its cache can match (F063). */
const matchUnitTokensMax = 512

export class Placement {
  readonly #index: PrefixIndex
  readonly #learning: Learning
  /** Reused for each request; grows to the size of the fleet. */
  readonly #matches: TierMatch[] = []

  constructor(index: PrefixIndex, learning: Learning) {
    this.#index = index
    this.#learning = learning
  }

  candidates(
    view: RequestView,
    arrived: RequestArrived,
    endpoints: readonly EndpointState[],
    nowMs: number,
  ): EndpointCandidate[] {
    const matches = this.#matches
    while (matches.length < endpoints.length) matches.push({ gpuBlocks: 0, hostBlocks: 0 })
    const slots = endpoints.map((endpoint) => endpoint.slot)
    this.#index.match(arrived.chain, slots, matches)
    const tokensPerBlock = blockBytes * this.#learning.tokensPerByte(arrived.model)
    const predict = (candidate: EndpointCandidate): Cost =>
      this.#cost(view, candidate, arrived.model, nowMs)
    return endpoints.map((endpoint, i) => {
      const cached = cachedTokens(endpoint, matches[i]!, tokensPerBlock, view.promptTokens)
      const capacityTokens = this.#learning.capacityBlocks(endpoint).gpu * tokensPerBlock
      return new EndpointCandidate(endpoint, cached, capacityTokens, nowMs, predict)
    })
  }

  /** What is believed of the chosen endpoint, to be held against the outcome. */
  prediction(view: RequestView, winner: EndpointCandidate): Prediction {
    const { waitMs, prefillMs, decodeMs } = winner.cost()
    const { ledger } = winner.state
    const cached = winner.gpuTokens + winner.hostTokens
    return {
      ttftMs: waitMs + prefillMs,
      decodeMs,
      matchedTokens: winner.matchedTokens,
      cachedTokens: cached,
      hostTokens: winner.hostTokens,
      uncachedTokens: view.promptTokens - cached,
      aheadTokens: ledger.queuedTokens,
      decodingSequences: ledger.decoding,
      decodingContextTokens: ledger.decodingContextTokens,
    }
  }

  #cost(
    view: RequestView,
    candidate: EndpointCandidate,
    model: string | null,
    nowMs: number,
  ): Cost {
    const { state } = candidate
    const { ledger, description } = state
    const size = this.#index.size(state.slot)
    const tokensPerBlock = blockBytes * this.#learning.tokensPerByte(model)
    const freeTokens = candidate.kvCapacityTokens - size.gpuBlocks * tokensPerBlock
    return predictCost(
      this.#learning.rates(state),
      {
        backlogMs: ledger.prefillBacklogMs(nowMs),
        running: ledger.inFlight + (candidate.signals === null ? 0 : state.foreignRequests),
        decodingSequences: ledger.decoding,
        decodingContextTokens: ledger.decodingContextTokens,
        decodingRemainingTokens: ledger.decodingRemainingTokens,
        contextTokens: ledger.contextTokens,
        kvCapacityTokens: description.kvCapacityTokens ?? null,
        runningMax: description.runningMax ?? null,
        batchTokensMax: description.batchTokensMax ?? null,
        freeCacheTokens: Math.max(0, freeTokens),
        residentShare: state.residentShare,
        reuseShare: this.#learning.reuseShare(model),
        evictsIntoHost: (description.hostCapacityTokens ?? 0) > 0,
        arrivalsPerMs: (horizonMs) => this.#learning.arrivalsPerMs(state, nowMs, horizonMs),
      },
      {
        promptTokens: view.promptTokens,
        gpuTokens: candidate.gpuTokens,
        hostTokens: candidate.hostTokens,
        outputTokens: view.outputTokens,
      },
    )
  }
}

/**
 * Matched blocks as tokens: whole match units only, never the whole prompt (an engine computes at
 * least one token), and no more than outcomes have shown to be true.
 */
function cachedTokens(
  endpoint: EndpointState,
  match: TierMatch,
  tokensPerBlock: number,
  promptTokens: number,
): CachedTokens {
  const unit = Math.min(endpoint.description.matchUnitTokens ?? 1, matchUnitTokensMax)
  const whole = (tokens: number): number =>
    Math.max(0, Math.min(Math.floor(tokens / unit) * unit, promptTokens - 1))
  const both = whole((match.gpuBlocks + match.hostBlocks) * tokensPerBlock)
  const gpu = Math.min(both, whole(match.gpuBlocks * tokensPerBlock))
  const { share } = endpoint.trust
  return { gpuTokens: gpu * share, hostTokens: (both - gpu) * share, matchedTokens: both }
}

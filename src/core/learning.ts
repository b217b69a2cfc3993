/**
 * What the router learns from outcomes: rates per endpoint, tokens per byte and output length per
 * model, how far the prefix index may be believed, and how often work arrives.
 */
import { blockBytes } from './block-chain.ts'
import { ArrivalRate } from './cost/arrival-rate.ts'
import type { PrefillWork } from './cost/observations.ts'
import { OutputLength } from './cost/output-length.ts'
import { RateEstimator } from './cost/rate-estimator.ts'
import type { Rates } from './cost/rates.ts'
import { slowest } from './cost/rates.ts'
import { ReuseShare } from './cost/reuse-share.ts'
import { ServiceMeter, sharedTokens } from './cost/service-meter.ts'
import { TokenRatio } from './cost/token-ratio.ts'
import type { RequestArrived, RequestEnded } from './events.ts'
import type { EndpointState } from './fleet/endpoint-state.ts'
import { limits } from './limits.ts'
import type { Attempt, OpenRequest } from './open-request.ts'
import { PeerRates } from './peer-rates.ts'
import type { PrefixIndex } from './prefix/prefix-index.ts'
import type { RouterCounters } from './router-counters.ts'

/** Engines that were seen to drop a request soon after its client left. */
const abortsAtOnce: ReadonlySet<string> = new Set(['vllm', 'sglang', 'tensorrt-llm'])
const lingerMsAborting = 1_000

/** The index is resized when the believed capacity has changed by this share. */
const resizeShare = 0.02

const unnamedModel = ''

interface EndpointLearning {
  /** Null until something was observed there; until then its peers speak for it. */
  estimator: RateEstimator | null
  readonly arrivals: ArrivalRate
  readonly meter: ServiceMeter
  /** Blocks that the index was last told the endpoint has room for. */
  sizedBlocks: number
}

export class Learning {
  readonly #index: PrefixIndex
  readonly #counters: RouterCounters
  readonly #tokenRatio = new TokenRatio()
  readonly #outputLength = new OutputLength()
  readonly #reuseShare = new ReuseShare()
  readonly #endpoints = new Map<EndpointState, EndpointLearning>()
  readonly #peers = new PeerRates(this.#endpoints)

  constructor(index: PrefixIndex, counters: RouterCounters) {
    this.#index = index
    this.#counters = counters
  }

  joined(endpoint: EndpointState): void {
    this.#endpoints.set(endpoint, {
      estimator: null,
      arrivals: new ArrivalRate(),
      meter: new ServiceMeter(),
      sizedBlocks: 0,
    })
    this.restarted(endpoint)
  }

  left(endpoint: EndpointState): void {
    this.#endpoints.delete(endpoint)
    this.#peers.changed()
  }

  /** The hardware is the same, so its rates are kept; what it held is not. */
  restarted(endpoint: EndpointState): void {
    const { gpu, host } = this.capacityBlocks(endpoint)
    this.#of(endpoint).sizedBlocks = gpu
    this.#index.add(endpoint.slot, gpu, host)
  }

  resized(endpoint: EndpointState): void {
    const { gpu, host } = this.capacityBlocks(endpoint)
    this.#of(endpoint).sizedBlocks = gpu
    this.#index.resize(endpoint.slot, gpu, host)
  }

  dispatched(endpoint: EndpointState, nowMs: number): void {
    this.#of(endpoint).arrivals.observe(nowMs)
  }

  firstToken(request: OpenRequest, attempt: Attempt, atMs: number): void {
    const { prediction, endpoint } = attempt
    if (!request.arrived.streaming || !this.#endpoints.has(endpoint)) return
    const seen = {
      atMs,
      dispatchedAtMs: attempt.dispatchedAtMs,
      uncachedTokens: prediction.uncachedTokens,
      cachedTokens: prediction.cachedTokens,
      crowded: isCrowded(endpoint),
    }
    const { stepMs } = this.rates(endpoint)
    attempt.serviceMark = this.#of(endpoint).meter.firstToken(seen, stepMs)
    const { error } = this.#estimator(endpoint)
    const wasTrusted = error.trusted
    error.observe(prediction.ttftMs, atMs - attempt.dispatchedAtMs)
    if (wasTrusted && !error.trusted) this.#counters.predictionDistrusted++
  }

  done(request: OpenRequest, attempt: Attempt, event: RequestEnded): void {
    const { promptTokens, outputTokens, cachedTokens } = event.usage
    const model = request.arrived.model ?? unnamedModel
    if (promptTokens !== null && request.arrived.promptBytes > 0) {
      this.#tokenRatio.observe(model, request.arrived.promptBytes, promptTokens)
    }
    if (outputTokens !== null) this.#outputLength.observe(model, outputTokens)
    this.#reuseShare.observe(
      model,
      promptTokens ?? request.view.promptTokens,
      cachedTokens ?? attempt.prediction.cachedTokens,
    )
    if (cachedTokens !== null) this.#compareCached(attempt, cachedTokens)
    if (!this.#endpoints.has(attempt.endpoint)) return
    this.#peers.changed()
    if (attempt.serviceMark !== null) this.#learnStream(request, attempt, event)
    else if (!request.arrived.streaming) this.#learnWhole(request, attempt, event)
  }

  /** At the end, because only then the engine has told how much of the prompt was cached. */
  #learnStream(request: OpenRequest, attempt: Attempt, event: RequestEnded): void {
    const { estimator, meter } = this.#known(attempt.endpoint)
    const { serviceMark: mark, prediction, reservation } = attempt
    const firstTokenMs = attempt.firstTokenAtMs
    if (mark === null || firstTokenMs === null) return
    const { serviceMs, waitedMs, crowded } = mark
    const work = prefillWork(request, attempt, event, sharedTokens(mark))
    estimator.prefillObserved({ ...work, atMs: firstTokenMs, serviceMs, waitedMs, crowded })
    const outputTokens = event.usage.outputTokens ?? 0
    if (outputTokens < 2) return
    const { ledger } = reservation
    const gaps = outputTokens - 1
    const computed = meter.computedSince(mark)
    estimator.decodeObserved({
      atMs: event.atMs,
      msPerToken: (event.atMs - firstTokenMs) / gaps,
      sequences: (prediction.decodingSequences + ledger.decoding) / 2 + 1,
      contextTokens:
        ((prediction.decodingContextTokens + ledger.decodingContextTokens) / 2 +
          request.view.promptTokens) *
        attempt.endpoint.residentShare,
      prefillTokensPerToken: computed.tokens / gaps,
      prefillPairsPerToken: computed.pairs / gaps,
    })
  }

  #learnWhole(request: OpenRequest, attempt: Attempt, event: RequestEnded): void {
    const { outputTokens } = event.usage
    if (outputTokens === null) return
    this.#known(attempt.endpoint).estimator.wholeObserved({
      ...prefillWork(request, attempt, event, attempt.prediction.aheadTokens),
      atMs: event.atMs,
      wholeMs: event.atMs - attempt.dispatchedAtMs,
      outputTokens,
      crowded: isCrowded(attempt.endpoint),
    })
  }

  /** Holds the belief about the cache against the engine's own report. */
  #compareCached(attempt: Attempt, reportedTokens: number): void {
    const { endpoint, prediction } = attempt
    if (attempt.slot !== endpoint.slot || !this.#endpoints.has(endpoint)) return
    const { matchedTokens } = prediction
    const heldShare = this.#index.size(endpoint.slot).gpuBlocks / this.#nominalBlocks(endpoint)
    const finding = endpoint.trust.compared({ matchedTokens, reportedTokens, heldShare })
    if (finding === 'cache emptied') {
      this.#counters.cacheEmptied++
      this.#index.remove(endpoint.slot)
      this.restarted(endpoint)
      return
    }
    const sized = this.#of(endpoint).sizedBlocks
    const changed = Math.abs(this.capacityBlocks(endpoint).gpu - sized)
    if (changed > resizeShare * sized) this.resized(endpoint)
  }

  /**
   * What was learned of its peers speaks for an endpoint that nothing was observed of; else the
   * unknown would look better than the known whenever a model is slower than the prior. Where
   * predictions fail, an endpoint is taken to be no faster than its peers: a wrong belief may keep
   * work away, but never draw it.
   */
  rates(endpoint: EndpointState): Rates {
    const { estimator } = this.#of(endpoint)
    if (estimator === null) return this.#peers.of(endpoint)
    const learned = estimator.rates()
    return estimator.error.trusted ? learned : slowest(learned, this.#peers.of(endpoint))
  }

  /** Recent relative error of the predicted first token, and how many outcomes it rests on. */
  predictionError(endpoint: EndpointState): {
    readonly relative: number
    readonly samples: number
    readonly trusted: boolean
  } {
    const { estimator } = this.#of(endpoint)
    if (estimator === null) return { relative: 0, samples: 0, trusted: true }
    const { relative, outcomes, trusted } = estimator.error
    return { relative, samples: outcomes, trusted }
  }

  /** Times that learned rates were given up, because outcomes kept contradicting them. */
  get beliefsDropped(): number {
    let sum = 0
    for (const { estimator } of this.#endpoints.values()) sum += estimator?.beliefsDropped ?? 0
    return sum
  }

  #known(endpoint: EndpointState): { estimator: RateEstimator; meter: ServiceMeter } {
    return { estimator: this.#estimator(endpoint), meter: this.#of(endpoint).meter }
  }

  #estimator(endpoint: EndpointState): RateEstimator {
    const learning = this.#of(endpoint)
    learning.estimator ??= new RateEstimator(this.#peers.of(endpoint))
    return learning.estimator
  }

  /** Dispatches per ms to expect there over the next `horizonMs`. */
  arrivalsPerMs(endpoint: EndpointState, nowMs: number, horizonMs: number): number {
    return this.#of(endpoint).arrivals.at(nowMs, horizonMs)
  }

  promptTokens(event: RequestArrived): number {
    return event.promptBytes * this.tokensPerByte(event.model)
  }

  tokensPerByte(model: string | null): number {
    return this.#tokenRatio.tokensPerByte(model ?? unnamedModel)
  }

  outputTokens(event: RequestArrived): number {
    return this.#outputLength.expected(event.model ?? unnamedModel, event.maxOutputTokens)
  }

  /** Chance that context computed for the model is wanted again. */
  reuseShare(model: string | null): number {
    return this.#reuseShare.share(model ?? unnamedModel)
  }

  /** How long abandoned work is expected to run on there at most. */
  lingerMs(attempt: Attempt): number {
    const engine = attempt.endpoint.description.engine ?? 'unknown'
    return abortsAtOnce.has(engine) ? lingerMsAborting : limits.lingerMsMax
  }

  /** What the index may believe of an endpoint, in its blocks. */
  capacityBlocks(endpoint: EndpointState): { readonly gpu: number; readonly host: number } {
    const { hostCapacityTokens } = endpoint.description
    const believed = Math.ceil(this.#nominalBlocks(endpoint) * endpoint.trust.capacityFactor)
    const host = Math.ceil((hostCapacityTokens ?? 0) / this.#tokensPerBlock(endpoint))
    return {
      gpu: Math.max(1, Math.min(believed, limits.blocksPerEndpointMax)),
      host: Math.min(host, limits.blocksPerEndpointMax),
    }
  }

  /** GPU blocks that the endpoint has by its own account. */
  #nominalBlocks(endpoint: EndpointState): number {
    const { kvCapacityTokens } = endpoint.description
    if (kvCapacityTokens === undefined) return limits.blocksPerEndpointDefault
    return Math.max(1, kvCapacityTokens / this.#tokensPerBlock(endpoint))
  }

  #tokensPerBlock(endpoint: EndpointState): number {
    return blockBytes * this.tokensPerByte(endpoint.description.models?.[0]?.id ?? null)
  }

  #of(endpoint: EndpointState): EndpointLearning {
    const learning = this.#endpoints.get(endpoint)
    if (learning === undefined) throw new Error(`endpoint ${endpoint.key} never joined`)
    return learning
  }
}

/** The engine's own count of cached tokens where it gave one, else what was believed. */
function prefillWork(
  request: OpenRequest,
  attempt: Attempt,
  event: RequestEnded,
  aheadTokens: number,
): PrefillWork {
  const { prediction, endpoint } = attempt
  const promptTokens = event.usage.promptTokens ?? request.view.promptTokens
  const cachedTokens = Math.min(event.usage.cachedTokens ?? prediction.cachedTokens, promptTokens)
  return {
    uncachedTokens: promptTokens - cachedTokens,
    cachedTokens,
    hostTokens: Math.min(prediction.hostTokens, cachedTokens),
    aheadTokens,
    decodingSequences: prediction.decodingSequences,
    decodingContextTokens: prediction.decodingContextTokens,
    batchTokensMax: endpoint.description.batchTokensMax ?? null,
  }
}

/** More is on the endpoint than its memory or its batch can hold at once. */
function isCrowded(endpoint: EndpointState): boolean {
  const { kvCapacityTokens, runningMax } = endpoint.description
  const { contextTokens, inFlight } = endpoint.ledger
  const inUseTokens = contextTokens * endpoint.residentShare
  return inUseTokens > (kvCapacityTokens ?? Infinity) || inFlight > (runningMax ?? Infinity)
}

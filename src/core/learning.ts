/**
 * What the router learns from outcomes: rates per endpoint, tokens per byte and output length per
 * model, how far the prefix index may be believed, and how often work arrives.
 */
import { blockBytes } from './block-chain.ts'
import { ArrivalRate } from './cost/arrival-rate.ts'
import { OutputLength } from './cost/output-length.ts'
import { RateEstimator } from './cost/rate-estimator.ts'
import type { Rates } from './cost/rates.ts'
import { poolPrior } from './cost/rates.ts'
import { TokenRatio } from './cost/token-ratio.ts'
import type { RequestArrived, RequestEnded } from './events.ts'
import type { EndpointState } from './fleet/endpoint-state.ts'
import { limits } from './limits.ts'
import type { Attempt, OpenRequest } from './open-request.ts'
import type { PrefixIndex } from './prefix/prefix-index.ts'
import type { RouterCounters } from './router-counters.ts'

/** Engines that were seen to drop a request soon after its client left. */
const abortsAtOnce: ReadonlySet<string> = new Set(['vllm', 'sglang', 'tensorrt-llm'])
const lingerMsAborting = 1_000

/** An index this full evicts. */
const nearlyFullShare = 0.9

const unnamedModel = ''

/** Dispatches this long ago count half in the expected rate of arrivals. */
const arrivalHalfLifeMs = 10_000

interface EndpointLearning {
  /** Null until something was observed there; until then its peers speak for it. */
  estimator: RateEstimator | null
  readonly arrivals: ArrivalRate
}

export class Learning {
  readonly #index: PrefixIndex
  readonly #counters: RouterCounters
  readonly #tokenRatio = new TokenRatio()
  readonly #outputLength = new OutputLength()
  readonly #endpoints = new Map<EndpointState, EndpointLearning>()

  constructor(index: PrefixIndex, counters: RouterCounters) {
    this.#index = index
    this.#counters = counters
  }

  joined(endpoint: EndpointState): void {
    this.#endpoints.set(endpoint, {
      estimator: null,
      arrivals: new ArrivalRate(arrivalHalfLifeMs),
    })
    const { gpu, host } = this.capacityBlocks(endpoint)
    this.#index.add(endpoint.slot, gpu, host)
  }

  left(endpoint: EndpointState): void {
    this.#endpoints.delete(endpoint)
  }

  /** The hardware is the same, so its rates are kept; what it held is not. */
  restarted(endpoint: EndpointState): void {
    const { gpu, host } = this.capacityBlocks(endpoint)
    this.#index.add(endpoint.slot, gpu, host)
  }

  resized(endpoint: EndpointState): void {
    const { gpu, host } = this.capacityBlocks(endpoint)
    this.#index.resize(endpoint.slot, gpu, host)
  }

  dispatched(endpoint: EndpointState, nowMs: number): void {
    this.#of(endpoint).arrivals.observe(nowMs)
  }

  firstToken(request: OpenRequest, attempt: Attempt, atMs: number): void {
    const { prediction, endpoint } = attempt
    if (!request.arrived.streaming || !this.#endpoints.has(endpoint)) return
    this.#estimator(endpoint).prefillObserved({
      atMs,
      ttftMs: atMs - attempt.dispatchedAtMs,
      ...prefillCircumstances(attempt),
      predictedTtftMs: prediction.ttftMs,
    })
  }

  done(request: OpenRequest, attempt: Attempt, event: RequestEnded): void {
    const { promptTokens, outputTokens, cachedTokens } = event.usage
    const model = request.arrived.model ?? unnamedModel
    if (promptTokens !== null && request.arrived.promptBytes > 0) {
      this.#tokenRatio.observe(event.atMs, model, request.arrived.promptBytes, promptTokens)
    }
    if (outputTokens !== null) this.#outputLength.observe(event.atMs, model, outputTokens)
    if (cachedTokens !== null) this.#compareCached(attempt, cachedTokens)
    if (outputTokens !== null && this.#endpoints.has(attempt.endpoint)) {
      this.#decoded(request, attempt, event.atMs, outputTokens)
    }
  }

  #decoded(request: OpenRequest, attempt: Attempt, atMs: number, outputTokens: number): void {
    const estimator = this.#estimator(attempt.endpoint)
    const { ledger } = attempt.reservation
    const { prediction } = attempt
    const sequences = (prediction.decodingSequences + ledger.decoding) / 2 + 1
    const contextTokens =
      (prediction.decodingContextTokens + ledger.decodingContextTokens) / 2 +
      request.view.promptTokens
    if (attempt.firstTokenAtMs !== null && outputTokens > 1) {
      const msPerToken = (atMs - attempt.firstTokenAtMs) / (outputTokens - 1)
      estimator.decodeObserved({ atMs, msPerToken, sequences, contextTokens })
    } else if (attempt.firstTokenAtMs === null) {
      // Without streaming only the whole is seen: it is shared out as it was predicted.
      const wholeMs = atMs - attempt.dispatchedAtMs
      const predictedDecodeMs =
        (prediction.decodeMs * outputTokens) / Math.max(1, request.view.outputTokens)
      const scale = wholeMs / Math.max(1e-3, prediction.ttftMs + predictedDecodeMs)
      estimator.prefillObserved({
        atMs,
        ttftMs: prediction.ttftMs * scale,
        ...prefillCircumstances(attempt),
        predictedTtftMs: prediction.ttftMs,
      })
      const msPerToken = (predictedDecodeMs * scale) / Math.max(1, outputTokens)
      if (outputTokens > 1) {
        estimator.decodeObserved({ atMs, msPerToken, sequences, contextTokens })
      }
    }
  }

  /** Holds the belief about the cache against the engine's own report. */
  #compareCached(attempt: Attempt, reportedTokens: number): void {
    const { endpoint, prediction } = attempt
    if (attempt.slot !== endpoint.slot || !this.#endpoints.has(endpoint)) return
    const capacity = this.capacityBlocks(endpoint)
    const nearlyFull = this.#index.size(endpoint.slot).gpuBlocks > nearlyFullShare * capacity.gpu
    const factorBefore = endpoint.trust.capacityFactor
    const believed = prediction.cachedTokens
    const finding = endpoint.trust.compared(believed, reportedTokens, nearlyFull)
    if (finding === 'cache emptied') {
      this.#counters.cacheEmptied++
      this.#index.remove(endpoint.slot)
      this.restarted(endpoint)
    } else if (endpoint.trust.capacityFactor !== factorBefore) {
      this.resized(endpoint)
    }
  }

  rates(endpoint: EndpointState): Rates {
    return this.#of(endpoint).estimator?.rates() ?? this.#ofPeers(endpoint)
  }

  /** Recent relative error of the predicted first token, and how many outcomes it rests on. */
  predictionError(endpoint: EndpointState): {
    readonly relative: number
    readonly samples: number
    readonly trusted: boolean
  } {
    const { estimator } = this.#of(endpoint)
    if (estimator === null) return { relative: 0, samples: 0, trusted: true }
    return {
      relative: estimator.relativeError,
      samples: estimator.samples,
      trusted: estimator.trusted,
    }
  }

  /** Times that learned rates were given up, because outcomes kept contradicting them. */
  get beliefsDropped(): number {
    let sum = 0
    for (const { estimator } of this.#endpoints.values()) sum += estimator?.beliefsDropped ?? 0
    return sum
  }

  /**
   * What was learned of its peers speaks for an endpoint that nothing was observed of; else the
   * unknown would look better than the known whenever a model is slower than the prior.
   */
  #ofPeers(endpoint: EndpointState): Rates {
    const peers: Rates[] = []
    for (const [other, { estimator }] of this.#endpoints) {
      if (estimator === null) continue
      if ([...(other.models ?? [])].some((model) => endpoint.serves(model))) {
        peers.push(estimator.rates())
      }
    }
    return poolPrior(peers)
  }

  #estimator(endpoint: EndpointState): RateEstimator {
    const learning = this.#of(endpoint)
    learning.estimator ??= new RateEstimator(this.#ofPeers(endpoint))
    return learning.estimator
  }

  /** Dispatches per ms, as seen up to now; a pause makes it fall. */
  arrivalsPerMs(endpoint: EndpointState, nowMs: number): number {
    return this.#of(endpoint).arrivals.at(nowMs)
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

  /** How long abandoned work is expected to run on there at most. */
  lingerMs(attempt: Attempt): number {
    const engine = attempt.endpoint.description.engine ?? 'unknown'
    return abortsAtOnce.has(engine) ? lingerMsAborting : limits.lingerMsMax
  }

  /** What the index may believe of an endpoint, in its blocks. */
  capacityBlocks(endpoint: EndpointState): { readonly gpu: number; readonly host: number } {
    const { kvCapacityTokens, hostCapacityTokens, models } = endpoint.description
    const tokensPerBlock = blockBytes * this.tokensPerByte(models?.[0]?.id ?? null)
    const nominal =
      kvCapacityTokens === undefined
        ? limits.blocksPerEndpointDefault
        : kvCapacityTokens / tokensPerBlock
    const believed = Math.ceil(nominal * endpoint.trust.capacityFactor)
    const host = Math.ceil((hostCapacityTokens ?? 0) / tokensPerBlock)
    return {
      gpu: Math.max(1, Math.min(believed, limits.blocksPerEndpointMax)),
      host: Math.min(host, limits.blocksPerEndpointMax),
    }
  }

  #of(endpoint: EndpointState): EndpointLearning {
    const learning = this.#endpoints.get(endpoint)
    if (learning === undefined) throw new Error(`endpoint ${endpoint.key} never joined`)
    return learning
  }
}

function prefillCircumstances(attempt: Attempt): {
  readonly aheadTokens: number
  readonly uncachedTokens: number
  readonly cachedTokens: number
  readonly hostTokens: number
  readonly decodingSequences: number
  readonly decodingContextTokens: number
} {
  const { prediction } = attempt
  return {
    aheadTokens: prediction.aheadTokens,
    uncachedTokens: prediction.uncachedTokens,
    cachedTokens: prediction.cachedTokens,
    hostTokens: prediction.hostTokens,
    decodingSequences: prediction.decodingSequences,
    decodingContextTokens: prediction.decodingContextTokens,
  }
}

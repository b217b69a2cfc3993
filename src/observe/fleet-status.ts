/** The fleet as `/status` shows it, by the same predicate that routes. */
import { blockBytes } from '../core/block-chain.ts'
import type { EndpointState } from '../core/fleet/endpoint-state.ts'
import type { Fleet } from '../core/fleet/fleet.ts'
import type { Learning } from '../core/learning.ts'
import type { PrefixIndex } from '../core/prefix/prefix-index.ts'
import type { EndpointStatus, ModelStatus, PredictionError } from './status.ts'

/** What the core knows of an endpoint beside its state. */
export interface LearnedOfEndpoint {
  readonly cachedTokens: number
  readonly rates: Readonly<Record<string, number>>
  readonly predictionError: PredictionError
}

export function fleetStatus(
  fleet: Fleet,
  nowMs: number,
  learned: (endpoint: EndpointState) => LearnedOfEndpoint,
): EndpointStatus[] {
  return Array.from(fleet.values(), (endpoint) => {
    const { description, ledger } = endpoint
    const scraped = Number.isFinite(endpoint.signalsAtMs)
    return {
      url: endpoint.key,
      models: [...(endpoint.models ?? [])],
      ...routability(fleet, endpoint, nowMs),
      inFlight: ledger.inFlight,
      queued: ledger.queued,
      queuedTokens: ledger.queuedTokens,
      contextTokens: ledger.contextTokens,
      kvCapacityTokens: description.kvCapacityTokens ?? null,
      engine: description.engine ?? 'unknown',
      version: description.version ?? null,
      instanceId: description.instanceId ?? null,
      signals: endpoint.signals(nowMs),
      scrapeAgeMs: scraped ? nowMs - endpoint.signalsAtMs : null,
      ...learned(endpoint),
    }
  })
}

/** What a router has learned, read off its parts. */
export function learnedOf(
  learning: Learning,
  index: PrefixIndex,
): (endpoint: EndpointState) => LearnedOfEndpoint {
  return (endpoint) => {
    const { gpuBlocks, hostBlocks } = index.size(endpoint.slot)
    const model = endpoint.description.models?.[0]?.id ?? null
    const tokensPerBlock = blockBytes * learning.tokensPerByte(model)
    const { relative, samples, trusted } = learning.predictionError(endpoint)
    return {
      cachedTokens: Math.round((gpuBlocks + hostBlocks) * tokensPerBlock),
      rates: { ...learning.rates(endpoint) },
      predictionError: {
        ttftRelative: samples === 0 ? null : relative,
        ratesTrusted: trusted,
        cachedShare: endpoint.trust.outcomes === 0 ? null : endpoint.trust.share,
      },
    }
  }
}

export function modelStatus(endpoints: readonly EndpointStatus[]): ModelStatus[] {
  const counts = new Map<string, { endpoints: number; routableEndpoints: number }>()
  for (const endpoint of endpoints) {
    for (const id of endpoint.models) {
      const count = counts.get(id) ?? { endpoints: 0, routableEndpoints: 0 }
      count.endpoints++
      if (endpoint.routable) count.routableEndpoints++
      counts.set(id, count)
    }
  }
  return [...counts].map(([id, count]) => ({ id, ...count })).sort(byId)
}

/**
 * A softly unavailable endpoint is routable exactly where it is the last resort of one of its
 * models; the reason then says both.
 */
function routability(
  fleet: Fleet,
  endpoint: EndpointState,
  nowMs: number,
): Pick<EndpointStatus, 'routable' | 'reason'> {
  const { verdict, reason } = endpoint.health.availability(nowMs)
  if (verdict !== 'soft') return { routable: verdict === 'yes', reason }
  const models = endpoint.models === null ? [null] : [...endpoint.models]
  const lastResort = models.some((model) => fleet.pool(model, nowMs, null).lastResort)
  return lastResort
    ? { routable: true, reason: `last resort: ${reason}` }
    : { routable: false, reason }
}

function byId(a: ModelStatus, b: ModelStatus): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

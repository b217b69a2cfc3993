/** Gauges that are read off a status at scrape time, and counters that the core keeps. */
import type { MetricName } from './metric-catalogue.ts'
import type { EndpointStatus, RouterStatus } from './status.ts'
import type { Sample } from './tally.ts'

type PerEndpoint = (endpoint: EndpointStatus) => number | null

const perEndpoint: Partial<Record<MetricName, PerEndpoint>> = {
  warmpath_endpoint_routable: (endpoint) => (endpoint.routable ? 1 : 0),
  warmpath_endpoint_in_flight: (endpoint) => endpoint.inFlight,
  warmpath_endpoint_queued_tokens: (endpoint) => endpoint.queuedTokens,
  warmpath_endpoint_cached_tokens: (endpoint) => endpoint.cachedTokens,
  warmpath_endpoint_kv_capacity_tokens: (endpoint) => endpoint.kvCapacityTokens,
  warmpath_endpoint_engine_running: (endpoint) => endpoint.signals?.running ?? null,
  warmpath_endpoint_engine_waiting: (endpoint) => endpoint.signals?.waiting ?? null,
  warmpath_endpoint_engine_kv_usage: (endpoint) => endpoint.signals?.kvUsage ?? null,
  warmpath_endpoint_scrape_age_seconds: ({ scrapeAgeMs }) =>
    scrapeAgeMs === null ? null : scrapeAgeMs / 1000,
}

const perRouter: Partial<Record<MetricName, (status: RouterStatus) => Sample[]>> = {
  warmpath_build_info: ({ version, policy }) => [{ labels: { version, policy }, value: 1 }],
  warmpath_open_requests: (status) => one(status.openRequests),
  warmpath_held_requests: (status) => one(status.heldRequests),
  warmpath_holds_total: (status) => one(status.counters.held),
  warmpath_holds_expired_total: (status) => one(status.counters.holdsExpired),
  warmpath_admission_places: ({ admission }) => (admission === null ? [] : one(admission.places)),
  warmpath_admission_overcommit: ({ admission }) =>
    admission?.overcommit == null ? [] : one(admission.overcommit),
  warmpath_index_entries: (status) => one(status.indexEntries),
  warmpath_sessions: (status) => one(status.sessions),
  warmpath_endpoint_restarts_total: (status) => one(status.counters.restarts),
  warmpath_config_reloads_total: ({ config }) => byLabel('outcome', config.reloads),
  warmpath_open_connections: ({ openConnections }) => byLabel('side', openConnections),
  warmpath_lines_dropped_total: ({ droppedLines }) => byLabel('log', droppedLines),
  warmpath_fallbacks_total: ({ fallbacks }) => byLabel('kind', fallbacks),
  warmpath_endpoint_learned_rate: ({ endpoints }) =>
    endpoints.flatMap(({ url, rates }) =>
      Object.entries(rates).map(([rate, value]) => ({ labels: { endpoint: url, rate }, value })),
    ),
}

/** Samples of a metric that comes from the status; null for a metric that does not. */
export function statusSamples(name: MetricName, status: RouterStatus): Sample[] | null {
  const ofRouter = perRouter[name]
  if (ofRouter !== undefined) return ofRouter(status)
  const ofEndpoint = perEndpoint[name]
  if (ofEndpoint === undefined) return null
  return status.endpoints.flatMap((endpoint) => {
    const value = ofEndpoint(endpoint)
    // What is not reported has no series: a zero would be a claim.
    return value === null ? [] : [{ labels: { endpoint: endpoint.url }, value }]
  })
}

function one(value: number): Sample[] {
  return [{ labels: {}, value }]
}

function byLabel(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }))
}

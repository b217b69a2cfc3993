/**
 * Every metric that the router exposes. `docs/reference/metrics.md` is generated from it. Times are
 * in seconds and counts in requests or tokens, as Prometheus has it.
 */
export interface MetricEntry {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds of a histogram, without `+Inf`. */
  readonly buckets?: readonly number[]
}

const counter = (help: string, ...labels: string[]): MetricEntry => ({
  type: 'counter',
  help,
  labels,
})
const gauge = (help: string, ...labels: string[]): MetricEntry => ({ type: 'gauge', help, labels })
const histogram = (buckets: readonly number[], help: string, ...labels: string[]): MetricEntry => ({
  type: 'histogram',
  help,
  labels,
  buckets,
})

/** vLLM's own bounds, so that the router's curves and the engines' can be laid over one another. */
const ttftBuckets: readonly number[] = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
  160, 640, 2560,
]
const itlBuckets: readonly number[] = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
]
const requestBuckets: readonly number[] = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
]
const queueBuckets: readonly number[] = [0.001, 0.01, 0.1, ...requestBuckets.slice(0, 17)]
const decisionBuckets: readonly number[] = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
]
const ratioBuckets: readonly number[] = [
  0.1, 0.25, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 4, 10,
]

const served = ['model', 'endpoint'] as const

export const metricCatalogue = {
  warmpath_build_info: gauge('Always 1; the labels tell version and policy.', 'version', 'policy'),
  warmpath_requests_total: counter(
    'Requests that ended, by what the client got. Endpoint `none`: never sent to one.',
    ...served,
    'outcome',
    'code',
  ),
  warmpath_refusals_total: counter('Requests that the router itself answered.', 'code'),
  warmpath_open_requests: gauge('Requests sent to an endpoint and not yet ended.'),
  warmpath_held_requests: gauge('Requests that wait at the router.'),
  warmpath_holds_total: counter('Requests that had to wait at the router.'),
  warmpath_holds_expired_total: counter('Held requests that were answered with 429 in the end.'),
  warmpath_admission_places: gauge(
    'Sessions whose contexts have a place in the memory of the fleet.',
  ),
  warmpath_admission_overcommit: gauge('Memory promised to sessions per memory that there is.'),
  warmpath_attempts_total: counter('Times a request was sent to an endpoint.', ...served),
  warmpath_attempt_failures_total: counter(
    'Attempts that failed before any byte of an answer reached the client.',
    'endpoint',
    'phase',
    'cause',
  ),
  warmpath_retries_total: counter('Requests sent again elsewhere, by what failed.', 'cause'),
  warmpath_time_to_first_token_seconds: histogram(
    ttftBuckets,
    'From the request’s arrival at the router to its first token.',
    ...served,
  ),
  warmpath_inter_token_latency_seconds: histogram(
    itlBuckets,
    'Between two output events of a stream.',
    ...served,
  ),
  warmpath_e2e_request_latency_seconds: histogram(
    requestBuckets,
    'From the request’s arrival to the end of its answer.',
    ...served,
  ),
  warmpath_queue_wait_seconds: histogram(
    queueBuckets,
    'How long requests were held at the router before they were sent.',
    ...served,
  ),
  warmpath_decision_seconds: histogram(
    decisionBuckets,
    'How long the router took to choose, hashing of the prompt left out.',
  ),
  warmpath_prompt_tokens_total: counter('Prompt tokens of ended requests.', ...served),
  warmpath_output_tokens_total: counter('Output tokens of ended requests.', ...served),
  warmpath_cached_tokens_total: counter(
    'Prompt tokens that the engine reported as cached.',
    ...served,
  ),
  warmpath_ttft_actual_over_predicted: histogram(
    ratioBuckets,
    'Measured over predicted time from dispatch to first token; 1 is a perfect prediction.',
    ...served,
  ),
  warmpath_checked_predicted_cached_tokens_total: counter(
    'Cached tokens predicted, of requests whose engine reported them.',
    ...served,
  ),
  warmpath_checked_reported_cached_tokens_total: counter(
    'Cached tokens reported, of those same requests.',
    ...served,
  ),
  warmpath_endpoint_routable: gauge('1 when new requests may be sent there.', 'endpoint'),
  warmpath_endpoint_in_flight: gauge('Requests on the endpoint’s ledger.', 'endpoint'),
  warmpath_endpoint_queued_tokens: gauge(
    'Uncached prompt tokens on the ledger whose first token has not come.',
    'endpoint',
  ),
  warmpath_endpoint_cached_tokens: gauge('Tokens believed to be cached there.', 'endpoint'),
  warmpath_endpoint_kv_capacity_tokens: gauge('KV cache size as reported.', 'endpoint'),
  warmpath_endpoint_engine_running: gauge('Running requests, by the engine’s count.', 'endpoint'),
  warmpath_endpoint_engine_waiting: gauge('Waiting requests, by the engine’s count.', 'endpoint'),
  warmpath_endpoint_engine_kv_usage: gauge('Share of KV memory in use, 0 to 1.', 'endpoint'),
  warmpath_endpoint_scrape_age_seconds: gauge(
    'Since the last scrape that could be read.',
    'endpoint',
  ),
  warmpath_endpoint_learned_rate: gauge(
    'What the router learned of the endpoint; the label names rate and unit.',
    'endpoint',
    'rate',
  ),
  warmpath_probe_failures_total: counter('Health probes that failed.', 'endpoint', 'cause'),
  warmpath_scrape_failures_total: counter('Metric scrapes that failed.', 'endpoint', 'cause'),
  warmpath_ejections_total: counter(
    'Times an endpoint was taken out of choice because requests failed there.',
    'endpoint',
    'cause',
  ),
  warmpath_endpoint_restarts_total: counter('New processes found at an old address.'),
  warmpath_fallbacks_total: counter(
    'Times the router went on with less than it should have had.',
    'kind',
  ),
  warmpath_config_reloads_total: counter(
    'Times the configuration file was read again, by what became of it.',
    'outcome',
  ),
  warmpath_open_connections: gauge('Open connections.', 'side'),
  warmpath_index_entries: gauge('Blocks that the prefix index holds, counted per holder.'),
  warmpath_sessions: gauge('Sessions that are followed.'),
  warmpath_lines_dropped_total: counter(
    'Lines lost because their reader or disk was too slow.',
    'log',
  ),
} as const satisfies Record<`warmpath_${string}`, MetricEntry>

export type MetricName = keyof typeof metricCatalogue

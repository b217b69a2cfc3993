import type { Clock } from '../base/scheduler.ts'
import type {
  EndpointDescription,
  EngineKind,
  EngineSignals,
  ServedModel,
} from '../core/fleet/endpoint.ts'
import { describeEngine } from './describe-engine.ts'
import { type EngineFetch, engineHeaders } from './engine-fetch.ts'
import { probeHealth } from './probe-health.ts'
import { type Scrape, scrapeMetrics } from './scrape-metrics.ts'

/** What one look at an endpoint found, for `warmpath check`. */
export interface EngineLook {
  /** Something answered HTTP there, well or not. */
  readonly reachable: boolean
  /** `ready`, or why not. */
  readonly health: string
  readonly healthy: boolean
  /** How long the answer took; null when none came. */
  readonly healthMs: number | null
  readonly engine: EngineKind
  readonly version: string | null
  readonly models: readonly ServedModel[]
  readonly kvCapacityTokens: number | null
  readonly runningMax: number | null
  readonly signals: EngineSignals | null
  /** What costs performance or will fail, each with what to do. */
  readonly problems: readonly string[]
  /** What cannot be told from outside. */
  readonly notes: readonly string[]
}

const timeoutMs = 5_000

/** @param declared what the operator says of it; it outweighs what the engine says */
export async function lookAtEngine(
  fetch: EngineFetch,
  apiKey: string | null,
  declared: EndpointDescription,
  clock: Clock,
): Promise<EngineLook> {
  const headers = engineHeaders(apiKey)
  const startedAtMs = clock.nowMs()
  const { problem } = await probeHealth(
    fetch,
    declared.engine ?? 'unknown',
    null,
    headers,
    timeoutMs,
  )
  const healthMs = clock.nowMs() - startedAtMs
  const health = problem === null ? 'ready' : problem.reason
  if (problem !== null && !problem.cause.startsWith('status')) {
    return unreachable(health)
  }
  const known = declared.engine ?? null
  const answer = await describeEngine(fetch, known, headers, timeoutMs)
  const description = { ...answer.description, ...declared }
  const modelsProblem = declared.models === undefined ? answer.modelsProblem : null
  const engine = description.engine ?? 'unknown'
  const scrape = await scrapeMetrics(fetch, engine, headers, timeoutMs)
  const read = scrape.kind === 'read' ? scrape.metrics : null
  const capacity = description.kvCapacityTokens ?? read?.description.kvCapacityTokens ?? null
  return {
    reachable: true,
    health,
    healthy: problem === null,
    healthMs,
    engine,
    version: description.version ?? null,
    models: description.models ?? [],
    kvCapacityTokens: capacity,
    runningMax: description.runningMax ?? read?.description.runningMax ?? null,
    signals: read?.signals ?? null,
    problems: [
      ...(problem === null
        ? []
        : [`Health: ${health}. No request is sent there until it is well.`]),
      ...modelProblems(description.models, modelsProblem),
      ...metricProblems(engine, scrape),
      ...(capacity === null ? [capacityUnknown] : []),
    ],
    notes: cachedTokensNote[engine] === undefined ? [] : [cachedTokensNote[engine]],
  }
}

const capacityUnknown =
  'The size of its KV cache is not reported. Declare kvCapacityTokens for it, or a cautious ' +
  'default is used.'

/** How each engine is told to publish its load. */
const metricsHint: Partial<Record<EngineKind, string>> = {
  sglang: ' Start SGLang with --enable-metrics.',
  'llama.cpp': ' Start llama-server with --metrics.',
  'tensorrt-llm': ' Set return_perf_metrics: true for trtllm-serve.',
}

/** Only an answer to a request shows whether cached tokens are reported. */
const cachedTokensNote: Partial<Record<EngineKind, string>> = {
  vllm:
    'Whether answers report cached tokens shows only in an answer: vLLM needs ' +
    '--enable-prompt-tokens-details.',
  sglang:
    'Whether answers report cached tokens shows only in an answer: SGLang needs ' +
    '--enable-cache-report.',
}

function modelProblems(
  models: readonly ServedModel[] | undefined,
  modelsProblem: string | null,
): string[] {
  if (modelsProblem === 'status 401' || modelsProblem === 'status 403') {
    return [`It refuses to list its models (${modelsProblem}): the API key is missing or wrong.`]
  }
  if (modelsProblem !== null) {
    return [
      `It does not list its models (/v1/models: ${modelsProblem}). Declare them, or it is taken ` +
        'to serve every model.',
    ]
  }
  return models?.length === 0 ? ['It lists no model, so no request can go there.'] : []
}

function metricProblems(engine: EngineKind, scrape: Scrape): string[] {
  if (scrape.kind !== 'read') {
    const hint = scrape.kind === 'missing' ? (metricsHint[engine] ?? '') : ''
    return [`Its load is not visible: ${scrape.detail}.${hint}`]
  }
  const problems: string[] = []
  if (scrape.metrics.signals.asleep === true) {
    problems.push('It is asleep: it answers health checks, and requests would hang. Wake it up.')
  }
  // vLLM's cache_config_info carries the engine's settings as labels.
  if (/enable_prefix_caching="(False|None)"/.test(scrape.page)) {
    problems.push(
      'Prefix caching is off: nothing can be reused there. Start vLLM without ' +
        '--no-enable-prefix-caching.',
    )
  }
  return problems
}

function unreachable(health: string): EngineLook {
  return {
    reachable: false,
    health,
    healthy: false,
    healthMs: null,
    engine: 'unknown',
    version: null,
    models: [],
    kvCapacityTokens: null,
    runningMax: null,
    signals: null,
    problems: [`It cannot be reached: ${health}.`],
    notes: [],
  }
}

/** What each engine says of itself beside its list of models. Pure: bodies in, facts out. */
import type { EndpointDescription, EngineKind } from '../core/fleet/endpoint.ts'

/** Where each engine describes itself; older names behind newer ones. */
export const infoPaths: Readonly<Record<EngineKind, readonly string[]>> = {
  vllm: ['/version'],
  sglang: ['/server_info', '/get_server_info'],
  'tensorrt-llm': ['/version'],
  'llama.cpp': ['/props'],
  ollama: ['/api/version'],
  tgi: ['/info'],
  unknown: [],
}

/**
 * Engines in the order in which an unknown one is asked who it is: those with a telling answer
 * first, since a bare `/version` may be anybody's.
 */
export const detectionOrder: readonly EngineKind[] = [
  'llama.cpp',
  'tgi',
  'sglang',
  'ollama',
  'vllm',
]

type Json = Readonly<Record<string, unknown>>

/** Facts in the engine's own answer; null when the body is not what that engine would say. */
export function readEngineInfo(engine: EngineKind, body: string): EndpointDescription | null {
  const json = parseObject(body)
  if (json === null) return null
  switch (engine) {
    case 'vllm':
    case 'tensorrt-llm':
    case 'ollama':
      return typeof json.version === 'string' ? { engine, version: json.version } : null
    case 'sglang':
      return sglangInfo(json)
    case 'llama.cpp':
      return llamaCppInfo(json)
    case 'tgi':
      return tgiInfo(json)
    case 'unknown':
      return null
  }
}

/** `/server_info`: the server's arguments and the scheduler's figures, by rank in newer builds. */
function sglangInfo(json: Json): EndpointDescription | null {
  const states = Array.isArray(json.internal_states) ? json.internal_states : []
  const rank = states.find(isObject) ?? {}
  const capacity = positive(json.max_total_num_tokens) ?? positive(rank.max_total_num_tokens)
  if (capacity === null && states.length === 0) return null
  return facts('sglang', {
    version: json.version,
    kvCapacityTokens: capacity,
    runningMax: positive(json.max_running_requests) ?? positive(rank.max_running_requests),
    batchTokensMax: positive(json.chunked_prefill_size),
    matchUnitTokens: positive(json.page_size),
  })
}

/** `/props`. `n_ctx` is of one slot; the context is divided among the slots. */
function llamaCppInfo(json: Json): EndpointDescription | null {
  const slots = positive(json.total_slots)
  if (slots === null) return null
  const settings = isObject(json.default_generation_settings)
    ? json.default_generation_settings
    : json
  const slotTokens = positive(settings.n_ctx) ?? positive(json.n_ctx)
  return facts('llama.cpp', {
    version: json.build_info,
    runningMax: slots,
    kvCapacityTokens: slotTokens === null ? null : slotTokens * slots,
  })
}

function tgiInfo(json: Json): EndpointDescription | null {
  if (positive(json.max_total_tokens) === null && typeof json.model_id !== 'string') return null
  return facts('tgi', {
    version: json.version,
    kvCapacityTokens: positive(json.max_batch_total_tokens),
    batchTokensMax: positive(json.max_batch_prefill_tokens),
  })
}

/** Leaves out what is not there: missing is unknown, never zero. */
function facts(engine: EngineKind, found: Json): EndpointDescription {
  const known = Object.entries(found).filter(
    ([name, value]) => value !== null && (name !== 'version' || typeof value === 'string'),
  )
  return { engine, ...Object.fromEntries(known) }
}

function parseObject(body: string): Json | null {
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function positive(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null
}

/** `/v1/models`: reading an engine's, and rendering the fleet's. */
import type { EngineKind, ServedModel } from '../core/fleet/endpoint.ts'
import { countOrNull, isObject, type Json, type JsonObject, parseJson, stringOr } from './json.ts'

export interface ModelsList {
  readonly engine: EngineKind
  readonly models: readonly ServedModel[]
}

const engineOfOwner: ReadonlyMap<string, EngineKind> = new Map([
  ['vllm', 'vllm'],
  ['sglang', 'sglang'],
  ['tensorrt_llm', 'tensorrt-llm'],
  ['llamacpp', 'llama.cpp'],
  ['library', 'ollama'],
])

/** Reads an engine's answer; null when it is no list of models. What has no id is skipped. */
export function readModelsList(body: string): ModelsList | null {
  const parsed = parseJson(body)
  if (!isObject(parsed) || !Array.isArray(parsed.data)) return null
  const entries = parsed.data.filter(isObject)
  const models = entries.map(readModel).filter((model) => model !== null)
  const owner = entries.length === 0 ? '' : stringOr(entries[0].owned_by, '')
  return { engine: engineOfOwner.get(owner) ?? 'unknown', models }
}

function readModel(entry: JsonObject): ServedModel | null {
  if (typeof entry.id !== 'string' || entry.id === '') return null
  const parent = stringOr(entry.parent, null)
  return { id: entry.id, parent, maxModelLen: maxModelLenOf(entry) }
}

/** vLLM and SGLang say `max_model_len`; llama.cpp has the context it was trained with in `meta`. */
function maxModelLenOf(entry: JsonObject): number | null {
  const meta: Json | undefined = entry.meta
  return countOrNull(entry.max_model_len) ?? (isObject(meta) ? countOrNull(meta.n_ctx) : null)
}

export type ModelsShape = 'openai' | 'anthropic'

/**
 * The merged list, each id once, in the order in which they were first met. `created` is 0: the
 * engines' start times differ from replica to replica, and a list must not change with each call.
 */
export function renderModelsList(models: readonly ServedModel[], shape: ModelsShape): string {
  const merged = mergeModels(models)
  if (shape === 'openai') {
    return JSON.stringify({ object: 'list', data: merged.map(openaiModel) })
  }
  const first_id = merged.at(0)?.id ?? null
  const last_id = merged.at(-1)?.id ?? null
  return JSON.stringify({ data: merged.map(anthropicModel), has_more: false, first_id, last_id })
}

/** One model for `/v1/models/{id}`; null when nobody serves it. */
export function renderModel(
  models: readonly ServedModel[],
  id: string,
  shape: ModelsShape,
): string | null {
  const model = mergeModels(models).find((one) => one.id === id)
  if (model === undefined) return null
  return JSON.stringify(shape === 'openai' ? openaiModel(model) : anthropicModel(model))
}

/** Replicas may disagree on the context limit: the smallest is what a client can count on. */
function mergeModels(models: readonly ServedModel[]): ServedModel[] {
  const merged = new Map<string, ServedModel>()
  for (const model of models) {
    const known = merged.get(model.id)
    if (known === undefined) merged.set(model.id, model)
    else {
      const parent = known.parent ?? model.parent
      const maxModelLen = smallest(known.maxModelLen, model.maxModelLen)
      merged.set(model.id, { id: model.id, parent, maxModelLen })
    }
  }
  return [...merged.values()]
}

function smallest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

function openaiModel({ id, parent, maxModelLen }: ServedModel): object {
  const entry = {
    id,
    object: 'model',
    created: 0,
    owned_by: 'warmpath',
    root: parent ?? id,
    parent,
  }
  return { ...entry, max_model_len: maxModelLen }
}

function anthropicModel({ id }: ServedModel): object {
  return { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
}

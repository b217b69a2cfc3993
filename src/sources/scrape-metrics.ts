import type { EngineKind, EngineSignals } from '../core/fleet/endpoint.ts'
import type { FetchedText } from '../io/http1/fetch-text.ts'
import { type EngineMetrics, readEngineMetrics } from '../protocol/engine-metrics.ts'
import { type EngineFetch, fetchProblem } from './engine-fetch.ts'

export type Scrape =
  | { readonly kind: 'read'; readonly metrics: EngineMetrics; readonly page: string }
  /** The engine has no such page, or will not show it. */
  | { readonly kind: 'missing'; readonly cause: string; readonly detail: string }
  /** A page without any load on it. */
  | { readonly kind: 'unreadable'; readonly cause: string; readonly detail: string }
  /** This time it did not come. */
  | { readonly kind: 'failed'; readonly cause: string; readonly detail: string }

const pageBytesMax = 8_388_608

/** What the page of a known engine should show; other engines are not held to anything. */
const expectedSignals: Partial<Record<EngineKind, readonly (keyof EngineSignals)[]>> = {
  vllm: ['running', 'waiting', 'kvUsage'],
  sglang: ['running', 'waiting', 'kvUsage'],
  'tensorrt-llm': ['running', 'waiting', 'kvUsage'],
  'llama.cpp': ['running', 'waiting'],
  tgi: ['running', 'waiting'],
}

/** Signals that the engine's page lacks though it should have them: renamed, perhaps. */
export function missingSignals(engine: EngineKind, signals: EngineSignals): string[] {
  return (expectedSignals[engine] ?? []).filter((name) => signals[name] === null)
}

/** Statuses that mean "not here", "not switched on" or "not for you": asking soon again is vain. */
const missingStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405, 501])

export async function scrapeMetrics(
  fetch: EngineFetch,
  engine: EngineKind,
  headers: readonly string[],
  timeoutMs: number,
): Promise<Scrape> {
  if (engine === 'ollama') {
    return { kind: 'missing', cause: 'no-metrics', detail: 'Ollama has no metrics' }
  }
  const path = engine === 'tensorrt-llm' ? '/prometheus/metrics' : '/metrics'
  let answer: FetchedText
  try {
    answer = await fetch(path, { headers, timeoutMs, bytesMax: pageBytesMax })
  } catch (error) {
    const { cause, reason } = fetchProblem(error)
    return { kind: 'failed', cause, detail: reason }
  }
  const { status, text } = answer
  const cause = `status ${status}`
  const detail = `${path} answers with status ${status}`
  if (missingStatuses.has(status)) return { kind: 'missing', cause, detail }
  if (status !== 200) return { kind: 'failed', cause, detail }
  return readPage(engine, path, text)
}

function readPage(engine: EngineKind, path: string, text: string): Scrape {
  const metrics = readEngineMetrics(engine, text)
  const { running, waiting, kvUsage } = metrics.signals
  if (running !== null || waiting !== null || kvUsage !== null)
    return { kind: 'read', metrics, page: text }
  const detail = `${path} shows no load that is known of engine '${engine}'`
  return { kind: 'unreadable', cause: 'unreadable', detail }
}

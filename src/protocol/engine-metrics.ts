/** An engine's Prometheus page as the router's own facts. */
import type { EndpointDescription, EngineKind, EngineSignals } from '../core/fleet/endpoint.ts'
import { metricFamilies, metricNames } from './metric-families.ts'
import { labelValue, readSamples, type Sample } from './prometheus-text.ts'

export interface EngineMetrics {
  readonly signals: EngineSignals
  /** Slow facts that the page happens to carry: capacity, match unit, instance. */
  readonly description: EndpointDescription
  /** Adapters that are running now (vLLM), newest series only; null where not reported. */
  readonly runningAdapters: readonly string[] | null
}

type Page = ReadonlyMap<string, readonly Sample[]>

/** vLLM's block size of a hybrid model is that of its state pages, not of its prefix matches. */
const blockSizeTrustedMax = 1_024

/**
 * Reads one page. What the page lacks is null or left out, never zero. `engine` may be `unknown`:
 * each engine's names are its own, so the page tells.
 */
export function readEngineMetrics(engine: EngineKind, page: string): EngineMetrics {
  const samples: Page = readSamples(page, metricNames)
  return {
    signals: readSignals(samples),
    description: readDescription(engine, samples),
    runningAdapters: readRunningAdapters(samples),
  }
}

function readSignals(page: Page): EngineSignals {
  const blockTokens = sumOf(page, metricFamilies.blockTokens)
  const inTokens = (blocks: number | null): number | null =>
    blocks === null || blockTokens === null ? null : blocks * blockTokens
  const reused = sumOf(page, metricFamilies.reusedBlocks)
  const missed = sumOf(page, metricFamilies.missedBlocks)
  const lookedUp = reused === null || missed === null ? null : reused + missed
  return {
    running: sumOf(page, metricFamilies.running),
    waiting: sumOf(page, metricFamilies.waiting),
    kvUsage: meanOf(page, metricFamilies.kvUsage),
    asleep: readAsleep(page),
    prefixQueriedTokens: sumOf(page, metricFamilies.prefixQueriedTokens) ?? inTokens(lookedUp),
    prefixHitTokens: sumOf(page, metricFamilies.prefixHitTokens) ?? inTokens(reused),
  }
}

/** One rank asleep lets requests hang as much as all of them. */
function readAsleep(page: Page): boolean | null {
  const awake = seriesOf(page, metricFamilies.awake)
  return awake === null ? null : awake.some(({ value }) => value === 0)
}

function readDescription(engine: EngineKind, page: Page): EndpointDescription {
  const kind = engine === 'unknown' ? engineOf(page) : engine
  const started = seriesOf(page, metricFamilies.processStart)
  const facts = {
    engine: kind === 'unknown' ? undefined : kind,
    instanceId: started === null ? undefined : `started ${started[0].value}`,
    kvCapacityTokens: readCapacity(page),
    hostCapacityTokens: sumConfig(page, hostTokens),
    matchUnitTokens: readMatchUnit(page),
  }
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(known)
}

function engineOf(page: Page): EngineKind {
  for (const [prefix, kind] of metricPrefixes) {
    for (const name of page.keys()) if (name.startsWith(prefix)) return kind
  }
  return 'unknown'
}

const metricPrefixes: readonly [string, EngineKind][] = [
  ['vllm:', 'vllm'],
  ['sglang:', 'sglang'],
  ['trtllm_', 'tensorrt-llm'],
  ['nv_trt_llm_', 'tensorrt-llm'],
  ['llamacpp:', 'llama.cpp'],
  ['tgi_', 'tgi'],
]

/** Tokens over all ranks. Null for none, and for zero: an engine that starts has no blocks yet. */
function readCapacity(page: Page): number | null {
  const blocks = sumOf(page, metricFamilies.capacityBlocks)
  const blockTokens = meanOf(page, metricFamilies.blockTokens)
  const ofBlocks = blocks === null || blockTokens === null ? null : blocks * blockTokens
  const tokens =
    sumOf(page, metricFamilies.capacityTokens) ?? sumConfig(page, deviceTokens) ?? ofBlocks
  return tokens === 0 ? null : tokens
}

/** vLLM's own count is right for hybrid models too, whose blocks are shared out among groups. */
function deviceTokens(labels: string): number | null {
  const tokens = numericLabel(labels, 'kv_cache_size_tokens')
  if (tokens !== null) return tokens
  return (
    product(numericLabel(labels, 'num_gpu_blocks'), numericLabel(labels, 'block_size')) ??
    product(numericLabel(labels, 'num_pages'), numericLabel(labels, 'page_size'))
  )
}

function hostTokens(labels: string): number | null {
  return product(numericLabel(labels, 'num_cpu_blocks'), numericLabel(labels, 'block_size'))
}

/**
 * The smallest run of tokens that a prefix hit can end at. `block_size` comes last, and not where
 * it is larger than any engine's own unit: prompts shorter than it would look hopeless (F063).
 */
function readMatchUnit(page: Page): number | null {
  const config = seriesOf(page, metricFamilies.cacheConfig)?.[0]
  if (config === undefined) return meanOf(page, metricFamilies.blockTokens)
  const first = ['cache_hit_alignment_tokens', 'prefix_match_unit', 'hash_block_size', 'page_size']
  for (const name of first) {
    const unit = numericLabel(config.labels, name)
    if (unit !== null) return unit
  }
  const blockSize = numericLabel(config.labels, 'block_size')
  return blockSize !== null && blockSize <= blockSizeTrustedMax ? blockSize : null
}

/** Series of earlier label sets stay on the page; the value is the time at which each was set. */
function readRunningAdapters(page: Page): string[] | null {
  const series = seriesOf(page, metricFamilies.adapters)
  if (series === null) return null
  const newest = series.reduce((a, b) => (b.value > a.value ? b : a))
  const names = labelValue(newest.labels, 'running_lora_adapters') ?? ''
  return names.split(',').filter((name) => name !== '')
}

/** The first of a family's names that the page has, without series that repeat another's. */
function seriesOf(page: Page, family: readonly MetricName[]): readonly Sample[] | null {
  for (const { name, labels } of family) {
    const samples = page.get(name)?.filter((sample) => counts(sample.labels, labels))
    if (samples !== undefined && samples.length > 0) return samples
  }
  return null
}

type MetricName = (typeof metricFamilies)[keyof typeof metricFamilies][number]

/** SGLang may report each rank of a tensor-parallel group: they share one queue and one cache. */
function counts(labels: string, wanted: string): boolean {
  if (wanted !== '' && !labels.includes(wanted)) return false
  return ['tp_rank', 'pp_rank'].every((name) => {
    if (!labels.includes(name)) return true
    return Number(labelValue(labels, name) ?? 0) === 0
  })
}

function sumOf(page: Page, family: readonly MetricName[]): number | null {
  const series = seriesOf(page, family)
  return series === null ? null : series.reduce((sum, { value }) => sum + value, 0)
}

function meanOf(page: Page, family: readonly MetricName[]): number | null {
  const series = seriesOf(page, family)
  if (series === null) return null
  return series.reduce((sum, { value }) => sum + value, 0) / series.length
}

/** One series for each rank; null when one of them does not say. */
function sumConfig(page: Page, read: (labels: string) => number | null): number | null {
  const series = seriesOf(page, metricFamilies.cacheConfig)
  if (series === null) return null
  let sum = 0
  for (const { labels } of series) {
    const one = read(labels)
    if (one === null) return null
    sum += one
  }
  return sum
}

/** Labels are text: `None` stands for what is not set. */
function numericLabel(labels: string, name: string): number | null {
  const text = labelValue(labels, name)
  const value = text === null || text === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) && value > 0 ? value : null
}

function product(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a * b
}

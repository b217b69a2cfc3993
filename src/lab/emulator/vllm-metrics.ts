import { FamilyList, type MetricFamily, type MetricsSource } from './metrics-page.ts'

/** The families of vLLM 0.32 that routers, dashboards and autoscalers read. */
export function vllmMetrics(source: MetricsSource): MetricFamily[] {
  const { model, nowMs } = source
  const { counters, pool, profile } = model
  const loading = model.loading(nowMs)
  const list = new FamilyList({ engine: '0', model_name: source.modelName })
  const plain = new FamilyList({})
  plain.add('gauge', 'process_start_time_seconds', source.startedS)

  list.add('gauge', 'vllm:num_requests_running', model.running - loading)
  list.add('gauge', 'vllm:num_requests_waiting', model.waiting + loading)
  list.add('gauge', 'vllm:num_requests_waiting_by_reason', [
    [{ reason: 'capacity' }, model.waiting],
    [{ reason: 'deferred' }, loading],
  ])
  list.add('gauge', 'vllm:engine_sleep_state', [
    [{ sleep_state: 'awake' }, source.asleep ? 0 : 1],
    [{ sleep_state: 'weights_offloaded' }, source.asleep ? 1 : 0],
    [{ sleep_state: 'discard_all' }, 0],
  ])
  list.add('gauge', 'vllm:kv_cache_usage_perc', pool.usage)
  list.add('counter', 'vllm:prefix_cache_queries_total', counters.prefixQueryTokens)
  list.add('counter', 'vllm:prefix_cache_hits_total', counters.prefixHitTokens)
  list.add('counter', 'vllm:external_prefix_cache_queries_total', counters.hostQueryTokens)
  list.add('counter', 'vllm:external_prefix_cache_hits_total', counters.hostHitTokens)
  list.add('counter', 'vllm:num_preemptions_total', counters.preemptions)
  addTokenCounters(list, source)
  list.add(
    'counter',
    'vllm:request_success_total',
    ['stop', 'length', 'abort', 'error', 'repetition'].map((reason) => [
      { finished_reason: reason },
      source.finishedByReason[reason] ?? 0,
    ]),
  )
  for (const [name, histogram] of Object.entries(source.histograms.byName)) {
    list.histogram(`vllm:${name}`, histogram)
  }
  plain.add('gauge', 'vllm:cache_config_info', [
    [
      {
        block_size: `${profile.blockTokens}`,
        cache_dtype: 'auto',
        enable_prefix_caching: 'True',
        engine: '0',
        gpu_memory_utilization: '0.92',
        kv_cache_memory_bytes: 'None',
        kv_cache_size_tokens: `${pool.capacityBlocks * profile.blockTokens}`,
        num_cpu_blocks: 'None',
        num_gpu_blocks: `${pool.capacityBlocks}`,
        num_gpu_blocks_override: 'None',
        prefix_caching_hash_algo: 'sha256',
        sliding_window: 'None',
      },
      1,
    ],
  ])
  return [plain.families[0], ...list.families, plain.families[1]]
}

function addTokenCounters(list: FamilyList, { model }: MetricsSource): void {
  const { counters } = model
  const cached = counters.prefixHitTokens + counters.hostHitTokens
  list.add('counter', 'vllm:prompt_tokens_total', counters.promptTokens)
  list.add('counter', 'vllm:prompt_tokens_by_source_total', [
    [{ source: 'local_compute' }, Math.max(0, counters.promptTokens - cached)],
    [{ source: 'local_cache_hit' }, counters.prefixHitTokens],
    [{ source: 'external_kv_transfer' }, counters.hostHitTokens],
  ])
  list.add('counter', 'vllm:prompt_tokens_cached_total', cached)
  list.add('counter', 'vllm:prompt_tokens_cached_by_source_total', [
    [{ source: 'device' }, counters.prefixHitTokens],
    [{ source: 'host' }, counters.hostHitTokens],
    [{ source: 'p2p' }, 0],
    [{ source: 'disk' }, 0],
    [{ source: 'external_unspecified' }, 0],
  ])
  list.add('counter', 'vllm:generation_tokens_total', counters.generatedTokens)
}

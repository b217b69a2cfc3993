import { FamilyList, type MetricFamily, type MetricsSource } from './metrics-page.ts'

/** The families of SGLang 0.5 that routers read. Its `token_usage` leaves evictable tokens out. */
export function sglangMetrics(source: MetricsSource): MetricFamily[] {
  const { model, nowMs } = source
  const { counters, pool, profile } = model
  const loading = model.loading(nowMs)
  const tokens = (blocks: number): number => blocks * profile.blockTokens
  const list = new FamilyList({
    engine_type: 'unified',
    model_name: source.modelName,
    pp_rank: '0',
    tp_rank: '0',
  })
  const hitRate = counters.prefixHitTokens / Math.max(1, counters.prefixQueryTokens)
  const plain = new FamilyList({})
  plain.add('gauge', 'process_start_time_seconds', source.startedS)
  list.add('gauge', 'sglang:num_running_reqs', model.running - loading)
  list.add('gauge', 'sglang:num_queue_reqs', model.waiting + loading)
  list.add('gauge', 'sglang:token_usage', pool.usage)
  list.add('gauge', 'sglang:num_used_tokens', tokens(pool.usedBlocks))
  list.add('gauge', 'sglang:kv_available_tokens', tokens(pool.freeBlocks))
  list.add('gauge', 'sglang:kv_evictable_tokens', tokens(pool.idleBlocks))
  list.add('gauge', 'sglang:max_total_num_tokens', tokens(pool.capacityBlocks))
  list.add('gauge', 'sglang:page_size', profile.blockTokens)
  list.add('gauge', 'sglang:num_pages', pool.capacityBlocks)
  list.add('gauge', 'sglang:cache_hit_rate', hitRate)
  list.add('gauge', 'sglang:num_retracted_reqs', counters.preemptions)
  list.add('counter', 'sglang:prompt_tokens_total', counters.promptTokens)
  list.add('counter', 'sglang:generation_tokens_total', counters.generatedTokens)
  list.add('counter', 'sglang:cached_tokens_total', [
    [{ cache_source: 'device' }, counters.prefixHitTokens],
    [{ cache_source: 'host' }, counters.hostHitTokens],
  ])
  const ended = counters.finishedRequests + counters.abortedRequests
  list.add('counter', 'sglang:num_requests_total', ended)
  list.add('counter', 'sglang:num_aborted_requests_total', counters.abortedRequests)
  const { byName } = source.histograms
  list.histogram('sglang:time_to_first_token_seconds', byName.time_to_first_token_seconds)
  list.histogram('sglang:inter_token_latency_seconds', byName.inter_token_latency_seconds)
  list.histogram('sglang:e2e_request_latency_seconds', byName.e2e_request_latency_seconds)
  return [...plain.families, ...list.families]
}

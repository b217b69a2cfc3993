/**
 * The engines' names for one and the same thing. Where an engine renamed a metric, both names stand
 * here, the newer first; the first that a page has is read (F044).
 */
const named = (name: string, labels = ''): { name: string; labels: string } => ({ name, labels })

export const metricFamilies = {
  running: [
    named('vllm:num_requests_running'),
    named('sglang:num_running_reqs'),
    named('trtllm_num_requests_running'),
    named('nv_trt_llm_request_metrics', 'request_type="scheduled"'),
    named('llamacpp:requests_processing'),
    named('tgi_batch_current_size'),
  ],
  waiting: [
    named('vllm:num_requests_waiting'),
    named('sglang:num_queue_reqs'),
    named('trtllm_num_requests_waiting'),
    named('nv_trt_llm_request_metrics', 'request_type="waiting"'),
    named('llamacpp:requests_deferred'),
    named('tgi_queue_size'),
  ],
  /** 0 to 1, in spite of vLLM's names. */
  kvUsage: [
    named('vllm:kv_cache_usage_perc'),
    named('vllm:gpu_cache_usage_perc'),
    named('sglang:token_usage'),
    named('trtllm_kv_cache_utilization'),
    named('nv_trt_llm_kv_cache_block_metrics', 'kv_cache_block_type="fraction"'),
    named('llamacpp:kv_cache_usage_ratio'),
  ],
  awake: [named('vllm:engine_sleep_state', 'sleep_state="awake"')],
  prefixQueriedTokens: [
    named('vllm:prefix_cache_queries_total'),
    named('vllm:gpu_prefix_cache_queries_total'),
    named('sglang:prompt_tokens_total'),
  ],
  prefixHitTokens: [
    named('vllm:prefix_cache_hits_total'),
    named('vllm:gpu_prefix_cache_hits_total'),
    named('sglang:cached_tokens_total'),
  ],
  reusedBlocks: [named('trtllm_kv_cache_reused_blocks_total')],
  missedBlocks: [named('trtllm_kv_cache_missed_blocks_total')],
  capacityTokens: [named('sglang:max_total_num_tokens')],
  capacityBlocks: [
    named('trtllm_kv_cache_max_blocks'),
    named('nv_trt_llm_kv_cache_block_metrics', 'kv_cache_block_type="max"'),
    named('sglang:num_pages'),
  ],
  blockTokens: [
    named('trtllm_kv_cache_tokens_per_block'),
    named('nv_trt_llm_kv_cache_block_metrics', 'kv_cache_block_type="tokens_per"'),
    named('sglang:page_size'),
  ],
  cacheConfig: [named('vllm:cache_config_info'), named('sglang:cache_config_info')],
  adapters: [named('vllm:lora_requests_info')],
  processStart: [named('process_start_time_seconds')],
} as const satisfies Record<string, readonly { name: string; labels: string }[]>

export const metricNames: ReadonlySet<string> = new Set(
  Object.values(metricFamilies).flatMap((family) => family.map(({ name }) => name)),
)

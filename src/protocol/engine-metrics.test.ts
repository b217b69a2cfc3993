import assert from 'node:assert/strict'
import { test } from 'node:test'
import { golden } from '../../test/support/answers.ts'
import { readEngineMetrics } from './engine-metrics.ts'

const read = (...lines: string[]) => readEngineMetrics('unknown', `${lines.join('\n')}\n`)

const nothing = {
  running: null,
  waiting: null,
  kvUsage: null,
  asleep: null,
  prefixQueriedTokens: null,
  prefixHitTokens: null,
}

test('a page of vLLM 0.32.0 tells load, capacity, match unit and instance', () => {
  const page = golden('vllm-0.32.0/metrics.txt').toString()
  assert.deepEqual(readEngineMetrics('vllm', page), {
    signals: {
      running: 0,
      waiting: 0,
      kvUsage: 0,
      asleep: false,
      prefixQueriedTokens: 459,
      prefixHitTokens: 256,
    },
    description: {
      engine: 'vllm',
      instanceId: 'started 1796104981.42',
      kvCapacityTokens: 65_536,
      matchUnitTokens: 32,
    },
    runningAdapters: null,
  })
})

test('F044: a renamed metric is read under both names, and is else unknown', () => {
  const usage = (...lines: string[]) => read(...lines).signals.kvUsage
  const [now, old] = ['vllm:kv_cache_usage_perc{engine="0"} 0.5', 'vllm:gpu_cache_usage_perc 0.25']
  assert.equal(usage(now), 0.5)
  assert.equal(usage(old), 0.25)
  assert.equal(usage(old, now), 0.5)
  assert.equal(usage('vllm:num_requests_running 1'), null)
  const { signals } = read(
    'vllm:gpu_prefix_cache_queries_total 9',
    'vllm:gpu_prefix_cache_hits_total 3',
  )
  assert.deepEqual([signals.prefixQueriedTokens, signals.prefixHitTokens], [9, 3])
})

test('an empty page, or one that is no page, leaves everything unknown', () => {
  for (const page of ['', '<html>', '{"json": 1}', '# HELP x\n', 'vllm:num_requests_running NaN']) {
    const { signals, description, runningAdapters } = readEngineMetrics('unknown', page)
    assert.deepEqual(signals, nothing)
    assert.equal(description.kvCapacityTokens, undefined)
    assert.equal(runningAdapters, null)
  }
})

test('the ranks of one engine are summed, their shares averaged, creation times skipped', () => {
  const { signals, description } = read(
    'vllm:num_requests_running{engine="0",model_name="m"} 3.0',
    'vllm:num_requests_running{engine="1",model_name="m"} 4.0 1700000000000',
    'vllm:kv_cache_usage_perc{engine="0"} 0.2',
    'vllm:kv_cache_usage_perc{engine="1"} 0.4',
    'vllm:prefix_cache_hits_total{engine="0"} 5120.0',
    'vllm:prefix_cache_hits_created{engine="0"} 1.7e+09',
    'vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="100"} 1.0',
    'vllm:cache_config_info{block_size="16",engine="1",num_gpu_blocks="50"} 1.0',
  )
  assert.equal(signals.running, 7)
  assert.ok(Math.abs(signals.kvUsage! - 0.3) < 1e-9)
  assert.equal(signals.prefixHitTokens, 5_120)
  assert.equal(description.kvCapacityTokens, 2_400)
})

test('capacity is unknown where the label says None', () => {
  const config = (labels: string) => read(`vllm:cache_config_info{${labels}} 1.0`).description
  assert.equal(config('block_size="16",num_gpu_blocks="None"').kvCapacityTokens, undefined)
  const preferred = 'block_size="16",kv_cache_size_tokens="999",num_gpu_blocks="100"'
  assert.equal(config(preferred).kvCapacityTokens, 999)
  const host = 'block_size="16",num_cpu_blocks="10",num_gpu_blocks="100"'
  assert.equal(config(host).hostCapacityTokens, 160)
  const rest = 'block_size="16",kv_cache_size_tokens="None",num_gpu_blocks="100"'
  assert.equal(config(rest).kvCapacityTokens, 1_600)
})

test('F063: a block of thousands of tokens is the match unit only where matching says so', () => {
  const unit = (labels: string) =>
    read(`vllm:cache_config_info{${labels}} 1.0`).description.matchUnitTokens
  assert.equal(unit('block_size="16"'), 16)
  assert.equal(unit('block_size="4096"'), undefined)
  assert.equal(unit('block_size="4096",prefix_match_unit="32"'), 32)
  assert.equal(unit('block_size="4096",prefix_match_unit="None"'), undefined)
  const aligned = 'cache_hit_alignment_tokens="4096",hash_block_size="32",prefix_match_unit="32"'
  assert.equal(unit(`block_size="4096",${aligned}`), 4_096)
})

test('F139: an engine of which one rank sleeps is asleep', () => {
  const state = (engine: number, awake: number) =>
    `vllm:engine_sleep_state{engine="${engine}",sleep_state="awake"} ${awake}`
  const off = 'vllm:engine_sleep_state{engine="0",sleep_state="discard_all"} 0.0'
  assert.equal(read(state(0, 1), state(1, 1), off).signals.asleep, false)
  assert.equal(read(state(0, 1), state(1, 0), off).signals.asleep, true)
  assert.equal(read(off).signals.asleep, null)
})

test('of several adapter series the newest counts', () => {
  const series = (running: string, at: string) =>
    `vllm:lora_requests_info{max_lora="4",running_lora_adapters="${running}"} ${at}`
  const { runningAdapters } = read(
    series('a', '1.7e+09'),
    series('b,c', '1.8e+09'),
    series('', '1e+09'),
  )
  assert.deepEqual(runningAdapters, ['b', 'c'])
  assert.deepEqual(read(series('', '1')).runningAdapters, [])
})

test('SGLang: ranks of a tensor-parallel group count once, ranks of data each', () => {
  const running = (tp: number, dp: number) =>
    `sglang:num_running_reqs{dp_rank="${dp}",pp_rank="0",tp_rank="${tp}"} 5`
  const { signals, description } = read(
    running(0, 0),
    running(1, 0),
    running(0, 1),
    'sglang:num_queue_reqs{tp_rank="0"} 2',
    'sglang:token_usage{tp_rank="0"} 0.75',
    'sglang:max_total_num_tokens{tp_rank="0"} 367404',
    'sglang:page_size{tp_rank="0"} 64',
    'sglang:prompt_tokens_total{tp_rank="0"} 100',
    'sglang:cached_tokens_total{cache_source="device",tp_rank="0"} 30',
    'sglang:cached_tokens_total{cache_source="host",tp_rank="0"} 10',
  )
  assert.deepEqual(signals, {
    running: 10,
    waiting: 2,
    kvUsage: 0.75,
    asleep: null,
    prefixQueriedTokens: 100,
    prefixHitTokens: 40,
  })
  assert.deepEqual(description, {
    engine: 'sglang',
    kvCapacityTokens: 367_404,
    matchUnitTokens: 64,
  })
})

test('SGLang before 0.5.11 tells its pages in a config series', () => {
  const page = read('sglang:cache_config_info{num_pages="1000",page_size="16"} 1')
  assert.equal(page.description.kvCapacityTokens, 16_000)
  assert.equal(page.description.matchUnitTokens, 16)
})

test('TensorRT-LLM: its own server and Triton', () => {
  const own = read(
    'trtllm_num_requests_running{model_name="m"} 3',
    'trtllm_num_requests_waiting{model_name="m"} 1',
    'trtllm_kv_cache_utilization{model_name="m"} 0.5',
    'trtllm_kv_cache_max_blocks{model_name="m"} 100',
    'trtllm_kv_cache_tokens_per_block{model_name="m"} 32',
    'trtllm_kv_cache_reused_blocks_total{model_name="m"} 3',
    'trtllm_kv_cache_missed_blocks_total{model_name="m"} 7',
  )
  assert.equal(own.signals.running, 3)
  assert.equal(own.signals.prefixHitTokens, 96)
  assert.equal(own.signals.prefixQueriedTokens, 320)
  assert.equal(own.description.kvCapacityTokens, 3_200)
  const triton = read(
    'nv_trt_llm_request_metrics{model="m",request_type="waiting",version="1"} 4',
    'nv_trt_llm_request_metrics{model="m",request_type="scheduled",version="1"} 2',
    'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction"} 0.1',
    'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="tokens_per"} 64',
    'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="max"} 10',
  )
  assert.deepEqual(triton.signals, { ...nothing, running: 2, waiting: 4, kvUsage: 0.1 })
  assert.equal(triton.description.kvCapacityTokens, 640)
  assert.equal(triton.description.engine, 'tensorrt-llm')
})

test('llama.cpp and TGI tell their load, and nothing of their cache', () => {
  const llama = read('llamacpp:requests_processing 2', 'llamacpp:requests_deferred 1')
  assert.deepEqual(llama.signals, { ...nothing, running: 2, waiting: 1 })
  assert.equal(llama.description.engine, 'llama.cpp')
  const tgi = read('tgi_queue_size 3', 'tgi_batch_current_size 8')
  assert.deepEqual(tgi.signals, { ...nothing, running: 8, waiting: 3 })
  assert.equal(tgi.description.engine, 'tgi')
})

test('labels are read past quotes, commas and braces in their values', () => {
  const labels = 'model_name="a\\"b,running_lora_adapters=}",running_lora_adapters="x"'
  assert.deepEqual(read(`vllm:lora_requests_info{${labels}} 1`).runningAdapters, ['x'])
})

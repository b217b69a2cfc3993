/** The field's rules: situations whose answer follows from each rule as its project states it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  candidate,
  context,
  policyConformance,
  request,
  type Shape,
} from '../../core/policy/policy.conformance.ts'
import { armNamed, arms, variantOf } from './arms.ts'

for (const { name, variants } of arms) {
  for (const { label, policy } of variants) policyConformance(`${name}, ${label}`, policy)
}

/** The candidate that the rule puts first; the prompt has 1,000 tokens. */
function first(arm: string, shapes: readonly Shape[], label?: string): number {
  const policy = variantOf(armNamed(arm), label).policy()
  const candidates = shapes.map((shape, slot) => candidate(slot, shape))
  return policy.rank(request('s'), candidates, context(1)).order[0]!
}

test('llm-d-blend: three for the prefix against two each for queue and KV', () => {
  const holder = { gpuTokens: 1_000 }
  // 3 against 2: the prefix outweighs the whole queue score, not queue and KV together.
  assert.equal(first('llm-d-blend', [{ ...holder, queued: 5, kvUsage: 0.4 }, {}]), 0)
  assert.equal(first('llm-d-blend', [{ ...holder, queued: 5, kvUsage: 0.6 }, {}]), 1)
})

test('llm-d-blend: host memory counts only where it is told to', () => {
  const shapes = [{ hostTokens: 1_000 }, { kvUsage: 0, gpuTokens: 100 }]
  assert.equal(first('llm-d-blend', shapes), 1)
  assert.equal(first('llm-d-blend', shapes, 'host 0.8'), 0)
})

test('llm-d-affinity: sticky from 80 % on, until it is 18 s slower', () => {
  const busy = (tokens: number) => ({ gpuTokens: 800, queuedTokens: tokens })
  assert.equal(first('llm-d-affinity', [busy(280_000), {}]), 0)
  assert.equal(first('llm-d-affinity', [busy(290_000), {}]), 1)
  assert.equal(first('llm-d-affinity', [{ gpuTokens: 790, queuedTokens: 900 }, {}]), 1)
})

test('sglang-cache-aware: the longest match, unless the pool is out of balance', () => {
  const label = 'true caches'
  const match = { gpuTokens: 400 }
  assert.equal(first('sglang-cache-aware', [{ ...match, inFlight: 64 }, {}], label), 0)
  assert.equal(first('sglang-cache-aware', [{ ...match, inFlight: 65 }, {}], label), 1)
  const rel = [{ ...match, inFlight: 190 }, { inFlight: 127 }]
  assert.equal(first('sglang-cache-aware', rel, label), 1 - 1)
  assert.equal(first('sglang-cache-aware', [{ gpuTokens: 300, inFlight: 1 }, {}], label), 1)
})

test('sglang-cache-aware: its tree remembers what engines have long evicted', () => {
  const policy = armNamed('sglang-cache-aware').variants[0]!.policy()
  const chain = { lo: new Uint32Array([1, 2, 3]), hi: new Uint32Array([4, 5, 6]), length: 3 }
  const prompt = { ...request('s'), chain, promptTokens: 192 }
  const candidates = [candidate(0), candidate(1, { inFlight: 3 })]
  policy.dispatched?.(prompt, candidates[1]!, context(1))
  assert.equal(policy.rank(prompt, candidates, context(1)).order[0], 1)
})

test('smg-cache-aware: only a holder far above the average is passed over', () => {
  const others = [{}, {}, {}]
  assert.equal(first('smg-cache-aware', [{ gpuTokens: 500, inFlight: 80 }, ...others]), 0)
  assert.equal(first('smg-cache-aware', [{ gpuTokens: 500, inFlight: 90 }, ...others]), 1)
})

test('dynamo: prefill there with this request, and all that decodes there', () => {
  assert.equal(first('dynamo', [{ gpuTokens: 1_000, contextTokens: 900 }, {}]), 0)
  assert.equal(first('dynamo', [{ gpuTokens: 1_000, contextTokens: 1_100 }, {}]), 1)
  assert.equal(first('dynamo', [{ gpuTokens: 1_000, contextTokens: 1_100 }, {}], 'w 3'), 0)
  assert.equal(first('dynamo', [{ hostTokens: 1_000, contextTokens: 740 }, {}]), 0)
})

test('lmetric: new prefill tokens times batch size', () => {
  assert.equal(first('lmetric', [{ gpuTokens: 900, inFlight: 8 }, {}]), 0)
  assert.equal(first('lmetric', [{ gpuTokens: 900, inFlight: 10 }, {}]), 1)
})

test('vllm-dp: one that waits weighs four that run', () => {
  assert.equal(first('vllm-dp', [{ inFlight: 1, queued: 1 }, { inFlight: 3 }]), 1)
  assert.equal(first('vllm-dp', [{ inFlight: 1, queued: 1 }, { inFlight: 5 }]), 0)
})

test('preble: exploits where more is cached than is new, else explores', () => {
  assert.equal(first('preble', [{}, { gpuTokens: 600, contextTokens: 99_000 }]), 1)
  assert.equal(first('preble', [{}, { gpuTokens: 400, contextTokens: 100_000 }]), 0)
})

test('llm-d-predicted-latency: the tightest fit that meets the objectives', () => {
  assert.equal(first('llm-d-predicted-latency', [{ costMs: 1_500 }, { costMs: 100 }]), 0)
  const idle = { costMs: 4_000 }
  const busy = { costMs: 2_500, inFlight: 4 }
  assert.equal(first('llm-d-predicted-latency', [busy, idle]), 1)
})

test('production-stack: whoever was sent the prefix gets it, however busy', () => {
  const policy = armNamed('production-stack').variants[0]!.policy()
  const chain = { lo: new Uint32Array([1, 2]), hi: new Uint32Array([3, 4]), length: 2 }
  const prompt = { ...request('s'), chain, promptTokens: 128 }
  const candidates = [candidate(0), candidate(1, { inFlight: 500 })]
  policy.dispatched?.(prompt, candidates[1]!, context(1))
  assert.equal(policy.rank(prompt, candidates, context(1)).order[0], 1)
})

test('ray-prefix and aibrix: a spread of queues ends affinity', () => {
  for (const arm of ['ray-prefix', 'aibrix']) {
    const policy = armNamed(arm).variants[0]!.policy()
    const chain = { lo: new Uint32Array([1, 2]), hi: new Uint32Array([3, 4]), length: 2 }
    const prompt = { ...request('s'), chain, promptTokens: 128 }
    const busy = (inFlight: number) => [candidate(0), candidate(1, { inFlight })]
    policy.dispatched?.(prompt, busy(0)[1]!, context(1))
    assert.equal(policy.rank(prompt, busy(0), context(1)).order[0], 1, arm)
    const drawn = [1, 2, 3, 4, 5].map((s) => policy.rank(prompt, busy(30), context(s)).order[0])
    assert.ok(drawn.includes(0), arm)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Random, randomInt, seededRandom } from '../../base/random.ts'
import type { BlockChain } from '../../core/block-chain.ts'
import { EngineModel } from './engine-model.ts'
import type { StepSample } from './engine-report.ts'
import { type EngineProfile, profileDefaults } from './profile.ts'
import type { RequestRecord } from './request.ts'
import { stepTimeMs } from './step-time.ts'

const profile: EngineProfile = {
  ...profileDefaults,
  name: 'test',
  model: 'test',
  source: 'made up',
  t0Ms: 10,
  prefillMsPerToken: 0.1,
  pairMs: 1e-5,
  contextMsPerToken: 1e-3,
  logicalContextMsPerToken: 1e-4,
  perSequenceMs: 0.01,
  kvTokens: 4096,
  batchTokensMax: 512,
  runningMax: 8,
  pricePerHour: 1,
}

/** A chain of `blocks` blocks: the first `shared` of them as in every chain of that `family`. */
function chainOf(family: number, shared: number, own: number, blocks: number): BlockChain {
  const lo = new Uint32Array(blocks)
  const hi = new Uint32Array(blocks)
  for (let i = 0; i < blocks; i++) {
    lo[i] = i + 1
    hi[i] = i < shared ? family : 1000 + own
  }
  return { lo, hi, length: blocks }
}

const unshared = (id: number, tokens: number): BlockChain =>
  chainOf(0, 0, id, Math.floor(tokens / profile.blockTokens))

/** Runs the model until it is idle; checks what must hold after every step. */
function drain(model: EngineModel, tokensBy = new Map<RequestRecord, number>()): void {
  for (let guard = 0; model.wakeMs !== undefined; guard++) {
    assert.ok(guard < 100_000, 'the engine comes to an end')
    step(model, tokensBy)
  }
}

function step(model: EngineModel, tokensBy: Map<RequestRecord, number>): void {
  for (const { record, tokens, finished } of model.advance()) {
    const total = (tokensBy.get(record) ?? 0) + tokens
    tokensBy.set(record, total)
    assert.equal(total, record.generatedTokens, 'no token is decoded twice')
    assert.equal(finished, total === record.outputTokens)
  }
  checkMemory(model)
}

function checkMemory(model: EngineModel): void {
  const { freeBlocks, privateBlocks, heldBlocks, idleBlocks, capacityBlocks } = model.pool
  for (const blocks of [freeBlocks, privateBlocks, heldBlocks, idleBlocks]) assert.ok(blocks >= 0)
  assert.equal(freeBlocks + privateBlocks + heldBlocks + idleBlocks, capacityBlocks)
  assert.ok(model.hostUsedBlocks * profile.blockTokens <= model.profile.hostTokens)
}

test('a request alone takes the steps that the formula says', () => {
  const steps: StepSample[] = []
  const model = new EngineModel(profile, { onStep: (sample) => steps.push(sample) })
  const record = model.submit(
    { id: 'a', chain: unshared(1, 1003), promptTokens: 1000, outputTokens: 3 },
    100,
  )
  drain(model)
  const prefill = (tokens: number, before: number) => ({
    prefillTokens: tokens,
    prefillPairs: tokens * (before + tokens / 2),
    prefilling: 1,
    decodes: 0,
    contextTokens: 0,
    residentTokens: before + tokens,
  })
  const decode = (context: number) => ({
    prefillTokens: 0,
    prefillPairs: 0,
    prefilling: 0,
    decodes: 1,
    contextTokens: context,
    residentTokens: context,
  })
  const expected = [prefill(512, 0), prefill(488, 512), decode(1001), decode(1002)]
  assert.deepEqual(
    steps.map((sample) => sample.work),
    expected,
  )
  const times = expected.map((work) => stepTimeMs(profile, work))
  assert.equal(record.startedMs, 100)
  assert.equal(record.firstTokenMs, 100 + times[0] + times[1])
  assert.equal(record.finishedMs, (record.firstTokenMs ?? 0) + times[2] + times[3])
})

test('a repeated prompt is cached but for its last block, and at least one token', () => {
  const model = new EngineModel(profile)
  const submit = (id: number) =>
    model.submit({ id, chain: chainOf(1, 40, 0, 40), promptTokens: 640, outputTokens: 1 }, 0)
  submit(1)
  drain(model)
  const second = submit(2)
  drain(model)
  assert.equal(second.cachedGpuTokens, 624)
})

test('concurrent sharers of a prefix hit blocks in flight, or only finished ones (SGLang)', () => {
  for (const hitsInFlight of [true, false]) {
    const model = new EngineModel({ ...profile, hitsInFlight, batchTokensMax: 8192 })
    const records = [1, 2, 3, 4].map((id) =>
      model.submit({ id, chain: chainOf(1, 32, id, 34), promptTokens: 544, outputTokens: 2 }, 0),
    )
    drain(model)
    const cached = records.map((record) => record.cachedGpuTokens)
    assert.deepEqual(cached, hitsInFlight ? [0, 512, 512, 512] : [0, 0, 0, 0])
  }
})

test('the next turn hits the answer of the turn before it', () => {
  const model = new EngineModel(profile)
  model.submit({ id: 1, chain: chainOf(1, 30, 0, 30), promptTokens: 320, outputTokens: 160 }, 0)
  drain(model)
  const next = model.submit(
    { id: 2, chain: chainOf(1, 40, 0, 41), promptTokens: 640, outputTokens: 16 },
    0,
  )
  drain(model)
  // The last token of an answer is never fed back, so its block is not complete.
  assert.equal(next.cachedGpuTokens, 29 * 16)
})

test('running out of memory preempts the newest request, which finishes later', () => {
  const model = new EngineModel({ ...profile, kvTokens: 1024, batchTokensMax: 1024 })
  const records = [1, 2].map((id) =>
    model.submit({ id, chain: unshared(id, 800), promptTokens: 400, outputTokens: 400 }, 0),
  )
  drain(model)
  assert.equal(records[0].preemptions, 0)
  assert.ok(records[1].preemptions > 0)
  assert.equal(records[1].generatedTokens, 400)
  assert.ok((records[1].finishedMs ?? 0) > (records[0].finishedMs ?? 0))
})

test('an abort frees the memory at once, in every state', () => {
  const model = new EngineModel({ ...profile, runningMax: 1, ingressMs: 5 })
  const submit = (id: string, atMs: number) =>
    model.submit({ id, chain: unshared(1, 900), promptTokens: 800, outputTokens: 100 }, atMs)
  submit('running', 0)
  submit('waiting', 0)
  model.advance()
  submit('arriving', 6)
  assert.equal(model.running, 1)
  assert.equal(model.waiting, 1)
  assert.ok(model.pool.usage > 0)
  for (const id of ['running', 'waiting', 'arriving']) assert.ok(model.abort(id, 6))
  assert.equal(model.abort('running', 6), false)
  assert.equal(model.pool.usage, 0)
  drain(model)
  assert.equal(model.counters.finishedRequests, 0)
  assert.equal(model.counters.abortedRequests, 3)
})

test('prompts are tokenised one after the other, in the time that their tokens take', () => {
  const model = new EngineModel({ ...profile, ingressMs: 5, ingressMsPerToken: 0.1 })
  const queuedMs = (id: number, tokens: number, atMs: number) =>
    model.submit({ id, chain: unshared(id, tokens), promptTokens: tokens, outputTokens: 1 }, atMs)
      .queuedMs
  assert.equal(queuedMs(1, 500, 0), 55)
  assert.equal(queuedMs(2, 100, 10), 65)
  assert.equal(queuedMs(3, 100, 200), 215)
  drain(model)
})

test('a context in host memory is reloaded while other work goes on', () => {
  const tiered = { ...profile, kvTokens: 1024, hostTokens: 8192, hostReloadMsPerToken: 0.05 }
  const model = new EngineModel(tiered)
  const submit = (id: number, family: number) =>
    model.submit(
      { id, chain: chainOf(family, 50, 0, 51), promptTokens: 800, outputTokens: 16 },
      model.wakeMs ?? 10_000,
    )
  submit(1, 1)
  drain(model)
  submit(2, 2)
  drain(model)
  const back = submit(3, 1)
  drain(model)
  // Family 2 pushed most of family 1 out of the GPU; the host tier has it all.
  assert.ok(back.cachedHostTokens > 0)
  assert.equal(back.cachedGpuTokens + back.cachedHostTokens, 49 * 16)
  const reloadMs = back.cachedHostTokens * tiered.hostReloadMsPerToken
  assert.ok((back.firstTokenMs ?? 0) - (back.startedMs ?? 0) > reloadMs)
})

test('blocks on their way from host memory are not hittable yet', () => {
  const tiered = { ...profile, kvTokens: 1536, hostTokens: 8192, hostReloadMsPerToken: 1 }
  const model = new EngineModel(tiered)
  const submit = (id: number, family: number, outputTokens: number) => {
    const chain = chainOf(family, 20, id, 20)
    const atMs = (model.wakeMs ?? 50_000) + 1
    return model.submit({ id, chain, promptTokens: 330, outputTokens }, atMs)
  }
  for (const family of [1, 2, 3, 4, 5, 6]) {
    submit(family, family, 4)
    drain(model)
  }
  // Something decodes, so that steps are taken while the context of the loader is in transit.
  submit(10, 7, 100)
  model.advance()
  const loader = submit(11, 1, 4)
  for (let steps = 0; steps < 4; steps++) model.advance()
  assert.equal(loader.firstTokenMs, undefined)
  const sharer = submit(12, 1, 4)
  while (model.wakeMs !== undefined) model.advance()
  assert.equal(loader.cachedHostTokens, 320)
  assert.equal(sharer.cachedHostTokens, 320)
})

test('a prompt is admitted only when the whole of it fits, not just its first chunk', () => {
  const model = new EngineModel({ ...profile, kvTokens: 2048 })
  const submit = (id: number, promptTokens: number) =>
    model.submit({ id, chain: unshared(id, 2000), promptTokens, outputTokens: 20 }, 0)
  const first = submit(1, 1200)
  const second = submit(2, 1200)
  drain(model)
  assert.equal(second.startedMs, first.finishedMs)
  assert.equal(model.counters.preemptions, 0)
})

test('a request that can never fit is refused', () => {
  const model = new EngineModel(profile)
  const request = { id: 1, chain: unshared(1, 0), promptTokens: 4090, outputTokens: 10 }
  assert.throws(() => model.submit(request, 0), RangeError)
})

/** A random life of an engine; returns a transcript of everything that a client could see. */
interface Life {
  readonly aborts?: false
  readonly decodeStepsMax: number
  readonly kvTokens: number
  /** Whether requests may have the same answer, and not only the same prompt. */
  readonly sharedAnswers: boolean
}

function randomLife(seed: number, life: Life): string[] {
  const random = seededRandom(seed)
  const samples: StepSample[] = []
  const hostTokens = randomInt(random, 2) * 6000
  const { decodeStepsMax, kvTokens, sharedAnswers } = life
  const options = { decodeStepsMax, onStep: (sample: StepSample) => samples.push(sample) }
  const some = {
    ...profile,
    kvTokens,
    hostTokens,
    hostReloadMsPerToken: 0.02,
    ingressMsPerToken: 0.01,
  }
  const hitsInFlight = randomInt(random, 2) === 0
  const model = new EngineModel({ ...some, hitsInFlight }, options)
  const records: RequestRecord[] = []
  const tokensBy = new Map<RequestRecord, number>()
  let nowMs = 0
  for (let id = 0; id < 60; id++) {
    nowMs += randomInt(random, 200)
    while (model.wakeMs !== undefined && model.wakeMs <= nowMs) step(model, tokensBy)
    records.push(model.submit(randomRequest(random, id, sharedAnswers), nowMs))
    if (life.aborts !== false && randomInt(random, 6) === 0)
      model.abort(randomInt(random, id + 1), nowMs)
    checkMemory(model)
  }
  drain(model, tokensBy)
  assert.equal(model.pool.usage, 0, 'nothing is held when the engine is idle')
  for (const { work } of samples) {
    assert.ok(work.prefillTokens + work.decodes <= profile.batchTokensMax)
    assert.ok(work.prefilling + work.decodes <= profile.runningMax)
    assert.ok(work.residentTokens <= kvTokens)
  }
  const { finishedRequests, abortedRequests } = model.counters
  assert.equal(finishedRequests + abortedRequests, records.length, 'each request ends once')
  for (const record of records) {
    if (record.finishedMs !== undefined) assert.equal(record.generatedTokens, record.outputTokens)
    assert.ok(record.cachedGpuTokens + record.cachedHostTokens < record.promptTokens)
  }
  checkComputed(model, records)
  return [...records, model.counters].map((item) => JSON.stringify(item))
}

/** Each prompt token is computed once or found cached, unless a sequence had to start again. */
function checkComputed({ counters }: EngineModel, records: readonly RequestRecord[]): void {
  const { preemptions, abortedRequests, computedPromptTokens } = counters
  const uncached = records.map(
    (one) => one.promptTokens - one.cachedGpuTokens - one.cachedHostTokens,
  )
  const expected = uncached.reduce((sum, tokens) => sum + tokens, 0)
  if (preemptions + abortedRequests === 0) assert.equal(computedPromptTokens, expected)
}

function randomRequest(random: Random, id: number, sharedAnswers: boolean) {
  const promptTokens = 1 + randomInt(random, 1500)
  const outputTokens = 1 + randomInt(random, 300)
  const blocks = Math.floor((promptTokens + outputTokens) / profile.blockTokens)
  const promptBlocks = Math.floor(promptTokens / profile.blockTokens)
  const shared = randomInt(random, (sharedAnswers ? blocks : promptBlocks) + 1)
  const chain = chainOf(randomInt(random, 4), shared, id, blocks)
  return { id, chain, promptTokens, outputTokens }
}

test('memory is conserved, budgets are kept and runs repeat to the byte', () => {
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom(1, 1000), (seed, decodeStepsMax) => {
      const life = { decodeStepsMax, kvTokens: 4096, sharedAnswers: true }
      assert.deepEqual(randomLife(seed, life), randomLife(seed, life))
    }),
    { numRuns: 60 },
  )
})

test('no prompt token is computed twice without need, and none is left out', () => {
  const seen = { calm: 0, preempted: 0 }
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom(2048, 4096, 64_000), (seed, kvTokens) => {
      const life = { aborts: false, decodeStepsMax: 1000, kvTokens, sharedAnswers: true } as const
      const preempted = randomLife(seed, life).at(-1)!.includes('"preemptions":0') ? 0 : 1
      seen[preempted ? 'preempted' : 'calm'] += 1
    }),
    { numRuns: 60 },
  )
  assert.ok(seen.calm > 0 && seen.preempted > 0, JSON.stringify(seen))
})

test('joining decode steps into one event changes no time but for rounding', () => {
  const numbers = /\d+(\.\d+)?/g
  // Requests that generate the same answer at once would free duplicates a few steps later.
  const life = (seed: number, kvTokens: number, decodeStepsMax: number) =>
    randomLife(seed, { decodeStepsMax, kvTokens, sharedAnswers: false }).flatMap(
      (line) => line.match(numbers) ?? [],
    )
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom(4096, 16_000), (seed, kvTokens) => {
      const single = life(seed, kvTokens, 1)
      life(seed, kvTokens, 1000).forEach((value, i) => {
        assert.ok(Math.abs(Number(value) - Number(single[i])) < 1e-6, `${value}, ${single[i]}`)
      })
    }),
    { numRuns: 60 },
  )
})

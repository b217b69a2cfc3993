import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Cost } from '../policy/policy.ts'
import { type EndpointLoad, predictCost, type RequestWork } from './predict.ts'
import { priorRates, type Rates } from './rates.ts'

const rates: Rates = {
  overheadMs: 20,
  prefillMsPerToken: 0.05,
  pairMs: 2e-6,
  hostReloadMsPerToken: 0.003,
  stepMs: 10,
  stepMsPerSequence: 0.02,
  stepMsPerContextToken: 1e-4,
}

const idle: EndpointLoad = {
  backlogMs: 0,
  running: 0,
  decodingSequences: 0,
  decodingContextTokens: 0,
  decodingRemainingTokens: 0,
  contextTokens: 0,
  kvCapacityTokens: 300_000,
  runningMax: 256,
  batchTokensMax: 8_192,
  freeCacheTokens: 300_000,
  arrivalsPerMs: () => 0,
  reuseShare: 0.5,
  evictsIntoHost: false,
}

const request: RequestWork = {
  promptTokens: 4_000,
  gpuTokens: 0,
  hostTokens: 0,
  outputTokens: 100,
}

/** As many decoding requests, each with so much context and output left. */
function decoding(count: number, contextTokens: number, remainingTokens: number): EndpointLoad {
  return {
    ...idle,
    running: count,
    decodingSequences: count,
    decodingContextTokens: count * contextTokens,
    decodingRemainingTokens: count * remainingTokens,
    contextTokens: count * contextTokens,
    freeCacheTokens: Math.max(0, 300_000 - count * contextTokens),
  }
}

function total(cost: Cost): number {
  return cost.waitMs + cost.prefillMs + cost.decodeMs + cost.externalityMs
}

const anyLoad = fc
  .record({
    backlogMs: fc.double({ min: 0, max: 1e5, noNaN: true }),
    decodes: fc.integer({ min: 0, max: 200 }),
    queued: fc.integer({ min: 0, max: 50 }),
    contextEach: fc.integer({ min: 1, max: 20_000 }),
    remainingEach: fc.integer({ min: 1, max: 2_000 }),
    kvCapacityTokens: fc.option(fc.integer({ min: 1_000, max: 1_000_000 })),
    runningMax: fc.option(fc.integer({ min: 1, max: 256 })),
    batchTokensMax: fc.option(fc.integer({ min: 16, max: 16_384 })),
    freeCacheTokens: fc.integer({ min: 0, max: 100_000 }),
    arrivalsPerMs: fc
      .double({ min: 0, max: 0.1, noNaN: true })
      .map((rate) => (_horizonMs: number) => rate),
    residentShare: fc.double({ min: 0.05, max: 1, noNaN: true }),
    reuseShare: fc.double({ min: 0, max: 1, noNaN: true }),
    evictsIntoHost: fc.boolean(),
  })
  .map(({ decodes, queued, contextEach, remainingEach, ...rest }) => ({
    ...rest,
    running: decodes + queued,
    decodingSequences: decodes,
    decodingContextTokens: decodes * contextEach,
    decodingRemainingTokens: decodes * remainingEach,
    contextTokens: (decodes + queued) * contextEach,
  }))

const anyRequest = fc
  .record({
    promptTokens: fc.integer({ min: 1, max: 200_000 }),
    gpuShare: fc.double({ min: 0, max: 1, noNaN: true }),
    hostShare: fc.double({ min: 0, max: 1, noNaN: true }),
    outputTokens: fc.integer({ min: 1, max: 4_000 }),
  })
  .map(({ promptTokens, gpuShare, hostShare, outputTokens }) => {
    const gpuTokens = Math.floor(promptTokens * gpuShare)
    const hostTokens = Math.floor((promptTokens - gpuTokens) * hostShare)
    return { promptTokens, gpuTokens, hostTokens, outputTokens }
  })

test('an idle endpoint costs its own time and takes none from others', () => {
  const cost = predictCost(rates, idle, request)
  const computeMs = 4_000 * 0.05 + (2e-6 * 4_000 ** 2) / 2
  // One step carries it, whatever part of the budget it fills.
  assert.ok(Math.abs(cost.waitMs + cost.prefillMs - (20 + computeMs + 10.02)) < 1e-9)
  assert.ok(Math.abs(cost.decodeMs - 100 * (10.02 + 1e-4 * 4_050)) < 1e-9)
  assert.equal(cost.externalityMs, 0)
})

test('deeper context makes the same new tokens dearer', () => {
  const shallow = predictCost(rates, idle, { ...request, promptTokens: 1_000 })
  const deep = predictCost(rates, idle, { ...request, promptTokens: 101_000, gpuTokens: 100_000 })
  assert.ok(Math.abs(deep.prefillMs - shallow.prefillMs - 1_000 * 2e-6 * 100_000) < 1e-6)
})

test('a prompt of many steps carries the decodes in each of them', () => {
  const busy = decoding(20, 1_000, 300)
  const long = { ...request, promptTokens: 8_172 * 4 }
  const difference =
    predictCost(rates, busy, long).prefillMs - predictCost(rates, idle, long).prefillMs
  const stepsIdleMs = ((8_172 * 4) / 8_192) * 10.02
  assert.ok(Math.abs(difference - (4 * (10 + 21 * 0.02 + 1e-4 * 20_000) - stepsIdleMs)) < 1e-6)
})

test('host-tier tokens cost their reload', () => {
  const warm = predictCost(rates, idle, { ...request, gpuTokens: 3_000 })
  const host = predictCost(rates, idle, { ...request, hostTokens: 3_000 })
  assert.ok(Math.abs(host.prefillMs - warm.prefillMs - 9) < 1e-9)
})

test('the queue is waited for', () => {
  const waitMs = predictCost(rates, { ...idle, running: 1, backlogMs: 5_000 }, request).waitMs
  assert.ok(waitMs > 5_000 && waitMs < 5_050)
})

test('full KV memory is waited for; memory shared by prefixes is not full', () => {
  const full = decoding(10, 30_000, 200)
  const stepMs = 10 + 11 * 0.02 + 1e-4 * 300_000
  const { waitMs } = predictCost(rates, full, request)
  // The first of ten to end is due after an eleventh of 400 steps.
  assert.ok(Math.abs(waitMs - 20 - (400 / 11) * stepMs) < 2 * stepMs, `${waitMs}`)
  const roomy = predictCost(rates, { ...full, kvCapacityTokens: 400_000 }, request)
  const shared = predictCost(rates, { ...full, residentShare: 0.5 }, request)
  const unknown = predictCost(rates, { ...full, kvCapacityTokens: null }, request)
  for (const other of [roomy, shared, unknown]) assert.ok(other.waitMs < 100, `${other.waitMs}`)
})

test('a full batch is waited for', () => {
  const full = { ...decoding(4, 1_000, 500), runningMax: 4 }
  assert.ok(predictCost(rates, full, request).waitMs > 150 * 10)
  assert.ok(predictCost(rates, { ...full, runningMax: 5 }, request).waitMs < 100)
})

test('room and backlog are waited for together, not one after the other', () => {
  const full = decoding(10, 30_000, 200)
  const room = predictCost(rates, full, request).waitMs
  assert.equal(predictCost(rates, { ...full, backlogMs: 500 }, request).waitMs, room)
})

test('externality counts those who will queue behind, and decodes that share their steps', () => {
  const own = predictCost(rates, idle, request)
  const visited = predictCost(rates, { ...idle, arrivalsPerMs: () => 1 / 1_000 }, request)
  const behindMs = (own.prefillMs * (own.prefillMs / 2)) / 1_000
  assert.ok(Math.abs(visited.externalityMs - behindMs) < 1e-9)
  // All of the prompt but one token is cached: nothing stalls, but steps get longer.
  const cached = { ...request, gpuTokens: 3_999 }
  const { externalityMs } = predictCost(rates, decoding(5, 1_000, 60), cached)
  const longerMs = 5 * 60 * (0.02 + 1e-4 * 4_050)
  assert.ok(externalityMs > longerMs && externalityMs < longerMs + 5, `${externalityMs}`)
})

test('more cached never costs more, in any tier', () => {
  fc.assert(
    fc.property(anyLoad, anyRequest, fc.double({ min: 0, max: 1, noNaN: true }), (load, r, f) => {
      const uncached = r.promptTokens - r.gpuTokens - r.hostTokens
      const base = total(predictCost(rates, load, r))
      const gpu = { ...r, gpuTokens: r.gpuTokens + Math.floor(uncached * f) }
      const host = { ...r, hostTokens: r.hostTokens + Math.floor(uncached * f) }
      const slack = 1e-9 * base
      assert.ok(total(predictCost(rates, load, gpu)) <= base + slack)
      assert.ok(total(predictCost(rates, load, host)) <= base + slack)
    }),
  )
})

test('a longer prompt or answer, a longer queue, less memory: never cheaper', () => {
  fc.assert(
    fc.property(anyLoad, anyRequest, fc.integer({ min: 1, max: 50_000 }), (load, r, more) => {
      const base = total(predictCost(rates, load, r))
      const slack = 1e-9 * base
      const worse: [Partial<EndpointLoad>, Partial<RequestWork>][] = [
        [{}, { promptTokens: r.promptTokens + more }],
        [{}, { outputTokens: r.outputTokens + more }],
        [{ backlogMs: load.backlogMs + more }, {}],
        [{ arrivalsPerMs: () => load.arrivalsPerMs(0) + more / 1e6 }, {}],
        [{ freeCacheTokens: Math.max(0, load.freeCacheTokens - more) }, {}],
      ]
      for (const [loadChange, requestChange] of worse) {
        const cost = predictCost(rates, { ...load, ...loadChange }, { ...r, ...requestChange })
        assert.ok(total(cost) >= base - slack, JSON.stringify([loadChange, requestChange]))
      }
    }),
  )
})

test('every part is finite and not negative, whatever is known', () => {
  const anything = fc.oneof(anyRequest, fc.constant({ ...request, promptTokens: 0 }))
  fc.assert(
    fc.property(anyLoad, anything, (load, r) => {
      for (const part of Object.values(predictCost(priorRates, load, r))) {
        assert.ok(Number.isFinite(part) && part >= 0, `${part}`)
      }
    }),
  )
})

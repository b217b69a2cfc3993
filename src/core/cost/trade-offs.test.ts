/** What the one number decides in situations that the field got wrong. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EndpointLoad, predictCost, type RequestWork } from './predict.ts'
import type { Rates } from './rates.ts'

/** Published fit of a 32B model on two H100. */
const rates: Rates = {
  overheadMs: 80,
  prefillMsPerToken: 0.048,
  pairMs: 2.1e-6,
  hostReloadMsPerToken: 0.0033,
  stepMs: 13.5,
  stepMsPerSequence: 0.014,
  stepMsPerContextToken: 6.9e-5,
}

const capacityTokens = 1_000_000

interface Resident {
  readonly contextTokens: number
  readonly remainingTokens: number
}

function endpoint(decodes: readonly Resident[], backlogMs = 0, queued = 0): EndpointLoad {
  const sum = (of: (one: Resident) => number): number =>
    decodes.reduce((total, one) => total + of(one), 0)
  const contextTokens = sum((one) => one.contextTokens)
  return {
    backlogMs,
    running: decodes.length + queued,
    decodingSequences: decodes.length,
    decodingContextTokens: contextTokens,
    decodingRemainingTokens: sum((one) => one.remainingTokens),
    contextTokens,
    kvCapacityTokens: capacityTokens,
    runningMax: 256,
    batchTokensMax: 8_192,
    freeCacheTokens: capacityTokens - contextTokens,
    arrivalsPerMs: () => 0,
    reuseShare: 0.5,
    evictsIntoHost: false,
  }
}

function costMs(load: EndpointLoad, request: RequestWork, speed: Rates = rates): number {
  const { waitMs, prefillMs, decodeMs, externalityMs } = predictCost(speed, load, request)
  return waitMs + prefillMs + decodeMs + externalityMs
}

function many(count: number, contextTokens: number, remainingTokens: number): Resident[] {
  return new Array(count).fill({ contextTokens, remainingTokens })
}

function prompt(promptTokens: number, gpuTokens = 0, outputTokens = 200): RequestWork {
  return { promptTokens, gpuTokens, hostTokens: 0, outputTokens }
}

test('F056: three giant contexts weigh more than a dozen tiny requests', () => {
  const giants = endpoint(many(3, 200_000, 200))
  const tiny = endpoint(many(12, 300, 200))
  assert.ok(costMs(tiny, prompt(2_000)) < costMs(giants, prompt(2_000)))
})

test('F056: three giant prompts in the queue weigh more than many tiny ones', () => {
  const prefillMs = (load: EndpointLoad, tokens: number): number =>
    predictCost(rates, load, prompt(tokens)).prefillMs
  const giants = endpoint([], 3 * prefillMs(endpoint([]), 200_000), 3)
  const tiny = endpoint([], 40 * prefillMs(endpoint([]), 300), 40)
  assert.ok(costMs(tiny, prompt(2_000)) < costMs(giants, prompt(2_000)) / 10)
})

test('F057: a moderate imbalance does not send a long context away from its cache', () => {
  const home = endpoint(many(10, 20_000, 150), 1_500, 2)
  const elsewhere = endpoint(many(6, 20_000, 150))
  assert.ok(costMs(home, prompt(50_000, 48_000)) < costMs(elsewhere, prompt(50_000)))
  // A context that is cheap to compute again moves.
  assert.ok(costMs(home, prompt(1_500, 1_000)) > costMs(elsewhere, prompt(1_500)))
})

test('F057: among equal caches the less loaded endpoint is cheaper, in small steps', () => {
  const costs = [2, 4, 6, 8].map((count) =>
    costMs(endpoint(many(count, 20_000, 150)), prompt(50_000, 48_000)),
  )
  for (let i = 1; i < costs.length; i++) {
    assert.ok(costs[i]! > costs[i - 1]! && costs[i]! < costs[i - 1]! * 2)
  }
})

test('F059: a warm endpoint with a queue loses to a cold idle one when waiting is longer', () => {
  const request = (gpuTokens: number) => prompt(8_000, gpuTokens)
  const busy = (backlogMs: number) => endpoint(many(1, 8_000, 150), backlogMs, 1)
  assert.ok(costMs(busy(10_000), request(7_800)) > costMs(endpoint([]), request(0)))
  assert.ok(costMs(busy(0), request(7_800)) < costMs(endpoint([]), request(0)) * 1.05)
})

test('F060: eight streams of one prompt spread over four ranks', () => {
  const perRank = [0, 0, 0, 0]
  const tokens = 2_000
  for (let stream = 0; stream < 8; stream++) {
    let best = 0
    const costs = perRank.map((count) => {
      // The first stream of a rank computes the prompt; later ones hit it.
      const cached = count > 0 ? tokens - 16 : 0
      return costMs(endpoint(many(count, tokens, 1_000)), prompt(tokens, cached, 1_000))
    })
    for (let i = 1; i < costs.length; i++) if (costs[i]! < costs[best]!) best = i
    perRank[best]!++
  }
  assert.ok(Math.max(...perRank) <= 3, perRank.join(' '))
  assert.ok(Math.min(...perRank) >= 1, perRank.join(' '))
})

test('F060: many streams of a long prompt do not pile up where it is cached', () => {
  const tokens = 30_000
  let count = 1
  const there = (): number =>
    costMs(endpoint(many(count, tokens, 500)), prompt(tokens, tokens - 16, 500))
  const away = costMs(endpoint([]), prompt(tokens, 0, 500))
  while (there() < away && count < 100) count++
  assert.ok(count >= 2 && count <= 20, `${count}`)
})

test('a fast replica takes the uncached prompt, a slow one keeps what it has cached', () => {
  const slow: Rates = {
    ...rates,
    prefillMsPerToken: rates.prefillMsPerToken * 4,
    pairMs: rates.pairMs * 4,
    stepMs: rates.stepMs * 2,
  }
  const idle = endpoint([])
  assert.ok(costMs(idle, prompt(20_000)) < costMs(idle, prompt(20_000), slow))
  assert.ok(costMs(idle, prompt(150_000, 148_000), slow) < costMs(idle, prompt(150_000)))
})

test('an uncached prompt is dearer where memory is full of wanted context', () => {
  const free = endpoint([])
  const full = { ...free, freeCacheTokens: 0, reuseShare: 0.9 }
  const difference = costMs(full, prompt(40_000)) - costMs(free, prompt(40_000))
  const computeMs = 40_000 * 0.048 + 2.1e-6 * 40_000 * 20_000
  assert.ok(difference > 0.8 * computeMs && difference < computeMs)
})

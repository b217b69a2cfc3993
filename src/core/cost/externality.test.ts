import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  delayedWaitersMs,
  evictedContextMs,
  slowedDecodesMs,
  stalledDecodesMs,
} from './externality.ts'
import { priorRates } from './rates.ts'

const nobody = { decodes: 0, remainingTokensMean: 0, queued: 0 }
const rates = {
  ...priorRates,
  prefillMsPerToken: 0.05,
  pairMs: 0,
  stepMsPerSequence: 0.02,
  stepMsPerContextToken: 1e-4,
}

test('nobody there, nothing taken', () => {
  assert.equal(stalledDecodesMs(1_000, 400, nobody, 200), 0)
  assert.equal(slowedDecodesMs(rates, 10_000, nobody, 200), 0)
  assert.equal(delayedWaitersMs(0, 1_000, 5_000), 0)
})

test('a second of prefill takes a second from each decode that outlasts it', () => {
  const others = { decodes: 40, remainingTokensMean: 300, queued: 0 }
  assert.equal(stalledDecodesMs(1_000, 400, others, 200), 40_000)
})

test('a decode that ends within the prefill loses only the steps it is there for', () => {
  const others = { decodes: 40, remainingTokensMean: 1, queued: 0 }
  assert.equal(stalledDecodesMs(4_000, 400, others, 200), 40 * 400)
})

test('requests queued ahead decode by then and are stalled too', () => {
  const others = { decodes: 0, remainingTokensMean: 0, queued: 3 }
  assert.equal(stalledDecodesMs(1_000, 400, others, 200), 3_000)
})

test('decodes are slowed for as long as both last', () => {
  const others = { decodes: 10, remainingTokensMean: 50, queued: 0 }
  const perStepMs = 0.02 + 1e-4 * 20_000
  assert.equal(slowedDecodesMs(rates, 20_000, others, 200), 10 * 50 * perStepMs)
  assert.equal(slowedDecodesMs(rates, 20_000, others, 20), 10 * 20 * perStepMs)
})

test('one arrival a second behind ten seconds of backlog delays ten requests', () => {
  assert.equal(delayedWaitersMs(1 / 1_000, 2_000, 10_000), 10 * 2_000 + 2_000)
})

const eviction = {
  newTokens: 5_000,
  freeTokens: 4_000,
  intoHost: false,
  reuseShare: 0.5,
  promptTokens: 10_000,
}

test('only what exceeds the free memory evicts', () => {
  assert.equal(evictedContextMs(rates, eviction), 1_000 * 0.5 * 0.05)
})

test('deep context costs more to compute again', () => {
  const deep = { ...rates, pairMs: 2e-6 }
  const difference = evictedContextMs(deep, eviction) - evictedContextMs(rates, eviction)
  assert.ok(Math.abs(difference - 1_000 * 0.5 * 2e-6 * 5_000) < 1e-9)
})

test('what host memory keeps costs its reload', () => {
  const reloadMs = 1_000 * 0.5 * rates.hostReloadMsPerToken
  assert.equal(evictedContextMs(rates, { ...eviction, intoHost: true }), reloadMs)
})

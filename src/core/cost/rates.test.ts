import assert from 'node:assert/strict'
import { test } from 'node:test'
import { poolPrior, priorRates, slowest } from './rates.ts'

test('a newcomer is expected to be like the median of its peers', () => {
  const peer = (factor: number) => ({ ...priorRates, prefillMsPerToken: 0.05 * factor })
  assert.equal(poolPrior([peer(1), peer(100), peer(1.2)]).prefillMsPerToken, 0.05 * 1.2)
  assert.equal(poolPrior([peer(1), peer(2)]).prefillMsPerToken, 0.05 * 1.5)
  assert.deepEqual(poolPrior([priorRates]), priorRates)
})

test('without peers it is the general prior', () => {
  assert.equal(poolPrior([]), priorRates)
})

test('the slowest of two takes each coefficient from the slower one', () => {
  const one = { ...priorRates, stepMs: 20 }
  const other = { ...priorRates, pairMs: 1 }
  assert.deepEqual(slowest(one, other), { ...priorRates, stepMs: 20, pairMs: 1 })
})

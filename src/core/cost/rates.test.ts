import assert from 'node:assert/strict'
import { test } from 'node:test'
import { poolPrior, priorRates } from './rates.ts'

test('a newcomer is expected to be like the median of its peers', () => {
  const peer = (factor: number) => ({ ...priorRates, prefillMsPerToken: 0.05 * factor })
  assert.equal(poolPrior([peer(1), peer(100), peer(1.2)]).prefillMsPerToken, 0.05 * 1.2)
  assert.equal(poolPrior([peer(1), peer(2)]).prefillMsPerToken, 0.05 * 1.5)
  assert.deepEqual(poolPrior([priorRates]), priorRates)
})

test('without peers it is the general prior', () => {
  assert.equal(poolPrior([]), priorRates)
})

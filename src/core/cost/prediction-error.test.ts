import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PredictionError } from './prediction-error.ts'

test('the error is the recent mean of the miss, relative to the outcome', () => {
  const error = new PredictionError()
  error.observe(150, 100)
  error.observe(50, 100)
  assert.equal(error.relative, 0.5)
  for (let i = 0; i < 100; i++) error.observe(110, 100)
  assert.ok(Math.abs(error.relative - 0.1) < 0.001)
  assert.equal(error.outcomes, 102)
})

test('F135: predictions far off in either direction end the trust; good ones restore it', () => {
  for (const factor of [5, 1 / 5]) {
    const error = new PredictionError()
    for (let i = 0; i < 50; i++) error.observe(100, 100)
    for (let i = 0; i < 3; i++) error.observe(100 * factor, 100)
    assert.ok(error.trusted, 'a few misses do not')
    for (let i = 0; i < 20; i++) error.observe(100 * factor, 100)
    assert.ok(!error.trusted)
    for (let i = 0; i < 10; i++) error.observe(100, 100)
    assert.ok(error.trusted)
  }
})

test('it takes some outcomes to judge', () => {
  const error = new PredictionError()
  for (let i = 0; i < 4; i++) error.observe(1_000, 1)
  assert.ok(error.trusted)
  error.observe(1_000, 1)
  assert.ok(!error.trusted)
})

test('nonsense does not count', () => {
  const error = new PredictionError()
  for (const [predicted, actual] of [
    [0, 5],
    [5, 0],
    [Number.NaN, 5],
    [5, Number.POSITIVE_INFINITY],
  ] as const) {
    error.observe(predicted, actual)
  }
  assert.equal(error.outcomes, 0)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogFilter } from './log-filter.ts'

/** Two independent coefficients, each known within a factor of about e² at first. */
function filter(values: readonly number[] = [1, 1]): LogFilter {
  return new LogFilter({
    values,
    covariance: Float64Array.from([4, 0, 0, 4]),
    least: [1e-3, 1e-3],
    most: [1e3, 1e3],
  })
}

const both = Float64Array.from([1, 1])
const first = Float64Array.from([1, 0])
const second = Float64Array.from([0, 1])

test('two different sums tell two coefficients apart', () => {
  const learned = filter()
  for (let i = 0; i < 30; i++) {
    learned.observe(Float64Array.from([1, 3]), 2 + 3 * 0.1, 0.01)
    learned.observe(Float64Array.from([2, 1]), 4 + 0.1, 0.01)
  }
  assert.ok(Math.abs(learned.value(0) - 2) < 0.2)
  assert.ok(Math.abs(learned.value(1) - 0.1) < 0.1)
})

test('one sum moves what it is made of, in proportion, and nothing else', () => {
  const learned = filter()
  for (let i = 0; i < 50; i++) learned.observe(both, 20, 0.01)
  assert.ok(Math.abs(learned.predict(both) - 20) < 0.1)
  assert.ok(Math.abs(learned.value(0) - learned.value(1)) < 1e-9)
  const alone = filter()
  alone.observe(first, 20, 0.01)
  assert.equal(alone.value(1), 1)
})

test('a sum a hundred times off is met after a few observations', () => {
  for (const measured of [0.05, 500]) {
    const learned = filter([1, 5])
    for (let i = 0; i < 4; i++) learned.observe(both, measured, 0.01)
    assert.ok(Math.abs(Math.log(learned.predict(both) / measured)) < 0.1, `${measured}`)
  }
})

test('certainty grows with observations and is given back by forgetting', () => {
  const learned = filter()
  const atFirst = learned.variance(both)
  for (let i = 0; i < 20; i++) learned.observe(both, 2, 0.04)
  const certain = learned.variance(both)
  assert.ok(certain < atFirst / 100)
  learned.forget(0.5)
  assert.ok(Math.abs(learned.variance(both) - (atFirst + certain) / 2) < 1e-9)
  assert.ok(Math.abs(learned.predict(both) - 2) < 0.01)
})

test('values stay within their bounds', () => {
  const learned = filter()
  for (let i = 0; i < 50; i++) learned.observe(second, 1e9, 0.01)
  assert.ok(learned.value(1) <= 1e3 * (1 + 1e-9))
  for (let i = 0; i < 200; i++) {
    learned.forget(0.5)
    learned.observe(second, 1e-9, 0.01)
  }
  assert.ok(learned.value(1) >= 1e-3 * (1 - 1e-9))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutputLength } from './output-length.ts'

test('it learns the mean length of each model', () => {
  const lengths = new OutputLength()
  for (let i = 0; i < 200; i++) {
    lengths.observe('terse', 20)
    lengths.observe('wordy', 2_000)
  }
  assert.ok(Math.abs(lengths.expected('terse', null) - 20) < 10)
  assert.ok(Math.abs(lengths.expected('wordy', null) - 2_000) < 100)
})

test('the limit cuts the long answers and leaves the short ones', () => {
  const lengths = new OutputLength()
  for (let i = 0; i < 200; i++) lengths.observe('m', i % 2 === 0 ? 10 : 1_000)
  const expected = lengths.expected('m', 100)
  assert.ok(expected > 50 && expected < 62, `${expected}`)
  assert.equal(lengths.expected('m', 1), 1)
})

test('an unseen model is expected to answer within the limit', () => {
  const lengths = new OutputLength()
  assert.equal(lengths.expected('m', 16), 16)
  assert.ok(lengths.expected('m', null) > 100)
  assert.equal(lengths.expected('m', 0), 1)
})

test('it follows a change', () => {
  const lengths = new OutputLength()
  for (let i = 0; i < 2_000; i++) lengths.observe('m', 1_000)
  for (let i = 0; i < 2_000; i++) lengths.observe('m', 50)
  assert.ok(lengths.expected('m', null) < 150)
})

test('nonsense is not learned', () => {
  const lengths = new OutputLength()
  const before = lengths.expected('m', null)
  for (const tokens of [0, -5, Number.NaN, Number.POSITIVE_INFINITY]) lengths.observe('m', tokens)
  assert.equal(lengths.expected('m', null), before)
})

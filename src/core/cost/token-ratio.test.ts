import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../limits.ts'
import { TokenRatio } from './token-ratio.ts'

test('an unseen model has four bytes a token', () => {
  assert.equal(new TokenRatio().tokensPerByte('m'), 0.25)
})

test('it learns the ratio of each model from a few long prompts', () => {
  const ratio = new TokenRatio()
  for (let i = 0; i < 5; i++) {
    ratio.observe('dense', 40_000, 16_000)
    ratio.observe('sparse', 40_000, 8_000)
  }
  assert.ok(Math.abs(ratio.tokensPerByte('dense') - 0.4) < 0.01)
  assert.ok(Math.abs(ratio.tokensPerByte('sparse') - 0.2) < 0.01)
})

test('short prompts, mostly template, do not set the ratio of long ones', () => {
  const ratio = new TokenRatio()
  for (let i = 0; i < 50; i++) ratio.observe('m', 40, 60)
  for (let i = 0; i < 5; i++) ratio.observe('m', 60_000, 18_000)
  assert.ok(Math.abs(ratio.tokensPerByte('m') - 0.3) < 0.02)
})

test('one prompt full of images moves a settled ratio by little', () => {
  const ratio = new TokenRatio()
  for (let i = 0; i < 10; i++) ratio.observe('m', 50_000, 12_500)
  ratio.observe('m', 50_000, 500_000)
  assert.ok(ratio.tokensPerByte('m') < 0.28)
})

test('it follows a change', () => {
  const ratio = new TokenRatio()
  for (let i = 0; i < 1_000; i++) ratio.observe('m', 50_000, 12_500)
  for (let i = 0; i < 200; i++) ratio.observe('m', 50_000, 25_000)
  assert.ok(Math.abs(ratio.tokensPerByte('m') - 0.5) < 0.05)
})

test('nonsense is not learned', () => {
  const ratio = new TokenRatio()
  for (const [bytes, tokens] of [
    [0, 5],
    [100, 0],
    [100, Number.NaN],
    [-100, 5],
    [100, Number.POSITIVE_INFINITY],
  ] as const) {
    ratio.observe('m', bytes, tokens)
  }
  assert.equal(ratio.tokensPerByte('m'), 0.25)
})

test('names beyond the limit share one entry, and those within keep theirs', () => {
  const ratio = new TokenRatio()
  for (let i = 0; i < limits.namesMax; i++) ratio.observe(`m${i}`, 1e6, 2e5)
  const before = ratio.tokensPerByte('m0')
  for (let i = 0; i < 20; i++) ratio.observe(`extra${i}`, 1e6, 8e5)
  assert.equal(ratio.tokensPerByte('m0'), before)
  assert.equal(ratio.tokensPerByte('extra0'), ratio.tokensPerByte('never seen'))
  assert.ok(ratio.tokensPerByte('extra0') > 0.6)
})

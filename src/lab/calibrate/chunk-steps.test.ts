import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchTokensOf, chunkSteps } from './chunk-steps.ts'
import type { CallSample } from './engine-under-test.ts'

const sample = (sentMs: number, outputMs: number[]): CallSample => {
  return { promptTokens: 100, cachedTokens: 0, outputTokens: outputMs.length, sentMs, outputMs }
}
/** Times from the gaps between them. */
const times = (gaps: readonly number[]): number[] => {
  let ms = 0
  return gaps.map((gap) => {
    ms += gap
    return ms
  })
}

test('the long gaps of a stream up to the first token of the prompt are its steps', () => {
  const gaps = [9, 1, 1, 1, 4, 20, 45, 70, 95, 110, 1, 1, 1, 1, 1, 1]
  const stream = sample(0, times(gaps))
  // The late gap of 4 is none; sent after two tokens, first token with the stream's tenth.
  assert.equal(chunkSteps(stream, sample(10, [346]), 8), 5)
})

test('steps hardly longer than others are counted from when the prompt was read', () => {
  const gaps = [60, 50, 50, 55, 56, 57, 58, 50, 50, 50, 50]
  assert.equal(chunkSteps(sample(0, times(gaps)), sample(5, [381]), 210), 4)
})

test('a stream that ended before the prompt, or came in lumps, tells nothing', () => {
  assert.equal(chunkSteps(sample(0, times([9, 1, 20, 45, 70])), sample(1, [500]), 8), null)
  const lumps = { ...sample(0, times([9, 1, 20, 45, 70, 1, 1])), outputTokens: 20 }
  assert.equal(chunkSteps(lumps, sample(1, [144]), 8), null)
})

test('budgets are powers of two where one fits, give or take a step', () => {
  assert.equal(batchTokensOf(27_546, 14), 2_048)
  assert.equal(batchTokensOf(27_546, 13), 2_048)
  assert.equal(batchTokensOf(24_000, 3), 8_192)
  assert.equal(batchTokensOf(60_000, 20), Math.round(60_000 / 19.5))
  assert.equal(batchTokensOf(4_000, 1), null)
})

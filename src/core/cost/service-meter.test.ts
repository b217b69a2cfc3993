import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ServiceMark, ServiceMeter, sharedTokens } from './service-meter.ts'

const stepMs = 10

function seen(atMs: number, dispatchedAtMs: number, uncachedTokens = 1_000, cachedTokens = 0) {
  return { atMs, dispatchedAtMs, uncachedTokens, cachedTokens, crowded: false }
}

test('a request that found the endpoint idle was served since its dispatch', () => {
  const meter = new ServiceMeter()
  meter.firstToken(seen(100, 0), stepMs)
  const mark = meter.firstToken(seen(900, 500), stepMs)
  assert.equal(mark.serviceMs, 400)
  assert.equal(mark.waitedMs, 0)
})

test('a request that stood behind another was served since the first token of that', () => {
  const meter = new ServiceMeter()
  meter.firstToken(seen(2_000, 0), stepMs)
  const mark = meter.firstToken(seen(2_500, 100), stepMs)
  assert.equal(mark.serviceMs, 500)
  assert.equal(mark.waitedMs, 1_900)
})

test('prompts of one step share its time and know of each other, early ones too', () => {
  const meter = new ServiceMeter()
  meter.firstToken(seen(1_000, 0), stepMs)
  const marks: ServiceMark[] = []
  for (let i = 0; i < 3; i++) marks.push(meter.firstToken(seen(1_100 + i, 50, 400), stepMs))
  const later = meter.firstToken(seen(1_200, 60, 700), stepMs)
  for (const [i, mark] of marks.entries()) {
    assert.equal(mark.serviceMs, 100 + i)
    assert.equal(sharedTokens(mark), 800)
  }
  assert.equal(sharedTokens(later), 0)
  assert.equal(later.serviceMs, 98)
})

test('a long prompt that was overtaken was served since the one that overtook it', () => {
  const meter = new ServiceMeter()
  const short = meter.firstToken(seen(300, 200), stepMs)
  const long = meter.firstToken(seen(5_000, 0), stepMs)
  assert.equal(short.serviceMs, 100)
  assert.equal(long.serviceMs, 4_700)
  assert.equal(long.waitedMs, 300)
})

test('it counts the prefill of others after a mark', () => {
  const meter = new ServiceMeter()
  const mark = meter.firstToken(seen(100, 0), stepMs)
  assert.deepEqual(meter.computedSince(mark), { tokens: 0, pairs: 0 })
  meter.firstToken(seen(500, 0, 200, 1_000), stepMs)
  meter.firstToken(seen(900, 0, 100), stepMs)
  const pairs = 200 * 1_100 + 100 * 50
  assert.deepEqual(meter.computedSince(mark), { tokens: 300, pairs })
})

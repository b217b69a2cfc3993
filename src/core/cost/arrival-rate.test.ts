import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ArrivalRate } from './arrival-rate.ts'

const shortMs = 1_000
const longMs = 600_000

test('a steady rate is found for every horizon, and forgotten when it stops', () => {
  const rate = new ArrivalRate()
  for (let atMs = 0; atMs <= 3_600_000; atMs += 500) rate.observe(atMs)
  for (const horizonMs of [0, shortMs, 10_000, 25_000, 60_000, 200_000, longMs]) {
    const perSecond = rate.at(3_600_000, horizonMs) * 1_000
    assert.ok(Math.abs(perSecond - 2) < 0.1, `${perSecond} per second over ${horizonMs} ms`)
  }
  assert.ok(rate.at(3_610_000, shortMs) < rate.at(3_600_000, shortMs) * 0.51)
})

test('a burst in one instant is a small rate, not an infinite one', () => {
  const rate = new ArrivalRate()
  for (let i = 0; i < 10; i++) rate.observe(5)
  assert.ok(rate.at(5, shortMs) * 1_000 < 1)
})

test('a burst says less of a long future than of a short one, without a jump between', () => {
  const rate = new ArrivalRate()
  for (let i = 0; i < 24; i++) rate.observe(0)
  let before = rate.at(0, shortMs)
  for (let horizonMs = shortMs; horizonMs <= longMs; horizonMs *= 1.05) {
    const now = rate.at(0, horizonMs)
    assert.ok(now <= before && now > before * 0.9, `${now} after ${before} at ${horizonMs}`)
    before = now
  }
  // Over minutes it expects about one burst like it, not one every ten seconds.
  assert.ok(before * 360_000 < 24)
})

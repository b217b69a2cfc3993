import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ArrivalRate } from './arrival-rate.ts'

test('a steady rate is found, and forgotten when it stops', () => {
  const rate = new ArrivalRate(10_000)
  for (let atMs = 0; atMs <= 100_000; atMs += 500) rate.observe(atMs)
  assert.ok(Math.abs(rate.at(100_000) * 1_000 - 2) < 0.1, `${rate.at(100_000) * 1_000} per second`)
  assert.ok(rate.at(110_000) < rate.at(100_000) * 0.51)
})

test('a burst in one instant is a small rate over the half-life, not an infinite one', () => {
  const rate = new ArrivalRate(10_000)
  for (let i = 0; i < 10; i++) rate.observe(5)
  assert.ok(rate.at(5) * 1_000 < 1)
})

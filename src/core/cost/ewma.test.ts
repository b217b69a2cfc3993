import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ewma } from './ewma.ts'

test('an observation counts half after the half-life', () => {
  const mean = new Ewma(1_000)
  mean.observe(0, 0)
  mean.observe(1_000, 3)
  assert.equal(mean.at(1_000), 2)
  assert.equal(mean.samples, 2)
})

test('reading changes nothing, for whatever time it is read', () => {
  const mean = new Ewma(1_000, 10, 1)
  mean.observe(0, 20)
  const first = mean.at(500)
  mean.at(1e9)
  assert.equal(mean.at(500), first)
  mean.observe(1_000, 20)
  const read = new Ewma(1_000, 10, 1)
  read.observe(0, 20)
  read.observe(1_000, 20)
  assert.equal(mean.at(1_000), read.at(1_000))
})

test('it returns to its prior in silence, and without a prior keeps its value', () => {
  const withPrior = new Ewma(1_000, 10, 1)
  assert.equal(withPrior.at(0), 10)
  withPrior.observe(0, 30)
  assert.equal(withPrior.at(0), 20)
  assert.ok(withPrior.at(20_000) < 10.001)
  const without = new Ewma(1_000)
  assert.equal(without.at(0), 0)
  without.observe(0, 30)
  assert.equal(without.at(1e12), 30)
})

test('a late observation counts like one made with the last', () => {
  const mean = new Ewma(1_000)
  mean.observe(5_000, 10)
  mean.observe(0, 20)
  assert.equal(mean.at(5_000), 15)
})

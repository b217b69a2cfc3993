import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReuseShare } from './reuse-share.ts'

test('the share follows what hit, per model, and forgets', () => {
  const reuse = new ReuseShare()
  assert.equal(reuse.share('new'), 0.5)
  for (let i = 0; i < 500; i++) {
    reuse.observe('agent', 100_000, 95_000)
    reuse.observe('batch', 10_000, 0)
  }
  assert.ok(Math.abs(reuse.share('agent') - 0.95) < 0.01)
  assert.ok(reuse.share('batch') < 0.01)
  for (let i = 0; i < 1_000; i++) reuse.observe('agent', 100_000, 10_000)
  assert.ok(Math.abs(reuse.share('agent') - 0.1) < 0.05, `${reuse.share('agent')}`)
})

test('a report of more cached tokens than the prompt has counts as all of it', () => {
  const reuse = new ReuseShare()
  for (let i = 0; i < 1_000; i++) reuse.observe('m', 1_000, 5_000)
  assert.ok(reuse.share('m') <= 1)
})

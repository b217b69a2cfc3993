import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Health, healthRules } from './health.ts'

function well(): Health {
  const health = new Health()
  health.probed(0, true, '')
  return health
}

test('is not routable before its health answered', () => {
  const health = new Health()
  assert.equal(health.availability(0).verdict, 'no')
  health.probed(1, false, 'status 503')
  assert.deepEqual(health.availability(1), { verdict: 'no', reason: 'status 503' })
  health.probed(2, true, '')
  assert.deepEqual(health.availability(2), { verdict: 'yes', reason: 'ready' })
})

test('a refused connection is believed at once, and the next good probe heals it', () => {
  const health = well()
  health.probed(10, false, 'connection refused')
  assert.equal(health.availability(10).verdict, 'no')
  health.probed(20, true, '')
  assert.equal(health.availability(20).verdict, 'yes')
})

test('F033: slow probes do not condemn an engine that makes progress', () => {
  const health = well()
  health.progressed(1_000)
  for (let i = 0; i < 5; i++) health.probed(2_000 + i, false, 'timeout')
  assert.equal(health.availability(2_005).verdict, 'yes')
  const later = 1_000 + healthRules.progressMs + 1
  assert.equal(health.availability(later).verdict, 'soft', 'soft: the last endpoint is still used')
})

test('F021: an endpoint that fails fast is ejected, for longer each time', () => {
  const health = well()
  assert.equal(health.failed(1, 'status 503', false), false)
  assert.equal(health.failed(2, 'status 503', false), false)
  assert.equal(health.failed(3, 'status 503', false), true)
  assert.equal(health.availability(4).verdict, 'soft')
  assert.match(health.availability(4).reason, /ejected for 2\.0 s: 3 requests failed in a row/)
  assert.equal(health.availability(3 + healthRules.ejectionMs).verdict, 'yes')
  assert.equal(health.failed(5_000, 'status 503', false), true, 'it has not proved itself since')
  assert.equal(health.availability(5_000 + healthRules.ejectionMs).verdict, 'soft')
  assert.equal(health.availability(5_000 + 2 * healthRules.ejectionMs).verdict, 'yes')
})

test('an endpoint that fails every other request is ejected too', () => {
  const health = well()
  let ejected = false
  for (let i = 0; i < healthRules.windowRequests && !ejected; i++) {
    if (i % 2 === 0) ejected = health.failed(i, 'reset', false)
    else health.succeeded(i)
  }
  assert.ok(ejected)
})

test('F023: of two cooldowns the later deadline counts', () => {
  const health = well()
  health.cooldown(0, 10_000)
  health.cooldown(1_000, 1_000)
  assert.equal(health.availability(9_999).verdict, 'soft')
  assert.equal(health.availability(10_000).verdict, 'yes')
})

test('F053: every state but "nothing listens" ends by itself', () => {
  const health = well()
  for (let i = 0; i < 40; i++) health.failed(i, 'reset', false)
  health.cooldown(50, Number.POSITIVE_INFINITY)
  const latestMs = 50 + healthRules.cooldownMsMax + healthRules.ejectionMsMax
  assert.equal(health.availability(latestMs).verdict, 'yes')
})

test('F139: a sleeping engine is used only where no other can serve', () => {
  const health = well()
  health.asleep = true
  assert.deepEqual(health.availability(1), { verdict: 'soft', reason: 'asleep' })
})

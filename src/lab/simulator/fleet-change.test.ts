/** Endpoints that slow down, die, come back, join and leave during a run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policies } from '../../core/policy/registry.ts'
import { profileNamed } from '../engine/profiles.ts'
import { unshared, unsharedDefaults } from '../workload/unshared.ts'
import type { FleetChange } from './fleet-change.ts'
import type { SimulatedRequest } from './request-record.ts'
import { simulatedWorld } from './simulate.ts'
import { replicas } from './simulated-fleet.ts'

const profile = profileNamed('qwen3-32b-2xh100')
const members = replicas(profile, 3)
const first = members[0]!.endpoint
const joined = 'http://engine-new'

function run(changes: readonly FleetChange[], options: { untilMs?: number } = {}) {
  const workload = unshared({ ...unsharedDefaults, perSecond: 8, seconds: 60 }, 1)
  const policy = policies['least-request']
  const { world } = simulatedWorld({
    workload,
    policy,
    members,
    seed: 1,
    changes,
    ...options,
  })
  return { ...world.run(), router: world.router }
}

const sent = (
  requests: readonly SimulatedRequest[],
  endpoint: string,
  fromMs: number,
  toMs: number,
) =>
  requests.filter(
    (one) => one.endpoint === endpoint && one.dispatchedMs! >= fromMs && one.dispatchedMs! < toMs,
  ).length

test('a slower endpoint gets less, and more again once it is well', () => {
  const { requests } = run([
    { type: 'slow', atMs: 20_000, endpoint: first, factor: 5 },
    { type: 'slow', atMs: 40_000, endpoint: first, factor: 1 },
  ])
  const slow = sent(requests, first, 20_000, 40_000)
  assert.ok(slow < 0.7 * sent(requests, first, 0, 20_000), `${slow}`)
  assert.ok(slow < sent(requests, first, 40_000, 60_000), `${slow}`)
})

test('an endpoint dies: begun answers fail, the rest goes elsewhere; it comes back empty', () => {
  const { requests, engines, router } = run([
    { type: 'die', atMs: 20_000, endpoint: first },
    { type: 'return', atMs: 40_000, endpoint: first },
  ])
  const failed = requests.filter(({ outcome }) => outcome === 'failed')
  assert.ok(failed.length > 0)
  assert.ok(failed.every((one) => one.firstTokenMs! <= 20_000 && one.reason === 'reset'))
  assert.ok(requests.every(({ outcome }) => outcome === 'done' || outcome === 'failed'))
  assert.ok(requests.some(({ attempts, outcome }) => attempts === 2 && outcome === 'done'))
  assert.equal(sent(requests, first, 20_001, 41_000), 0)
  assert.ok(sent(requests, first, 41_000, 60_000) > 10)
  assert.equal(engines.length, 4)
  assert.equal(router.counters.restarts, 1)
  assert.equal(router.openRequests, 0)
})

test('an endpoint joins, another finishes what it has and leaves', () => {
  const { requests, stays, router } = run([
    { type: 'join', atMs: 20_000, member: { endpoint: joined, profile } },
    { type: 'leave', atMs: 20_000, endpoint: first },
  ])
  assert.ok(requests.every(({ outcome }) => outcome === 'done'))
  assert.equal(sent(requests, first, 20_001, 60_000), 0)
  assert.ok(sent(requests, joined, 20_001, 60_000) > 10)
  const lastMs = Math.max(
    ...requests.filter(({ endpoint }) => endpoint === first).map((one) => one.finishedMs!),
  )
  assert.equal(stays[0]!.untilMs, lastMs)
  assert.deepEqual([stays[3]!.fromMs, stays[3]!.untilMs], [20_000, null])
  assert.equal(router.fleet.size, 3)
})

test('what is open when the run is cut off stays open', () => {
  const { requests, sessions, endMs } = run([], { untilMs: 10_000 })
  assert.ok(endMs >= 10_000 && endMs < 11_000)
  assert.ok(requests.some(({ outcome }) => outcome === 'open'))
  assert.equal(sessions.length, requests.length)
})

test('a request longer than the engine takes is refused, and its session ends', () => {
  const small = replicas({ ...profile, contextTokensMax: 2_000 }, 1)
  const workload = unshared({ ...unsharedDefaults, perSecond: 1, seconds: 20 }, 1)
  const policy = policies.random
  const { requests, sessions } = simulatedWorld({
    workload,
    policy,
    members: small,
    seed: 1,
  }).world.run()
  const tooLong = requests.filter((one) => one.promptTokens + one.outputTokens > 2_000)
  assert.ok(tooLong.length > 0)
  assert.deepEqual(
    requests.filter(({ outcome }) => outcome === 'refused'),
    tooLong,
  )
  assert.equal(sessions.filter(({ completed }) => !completed).length, tooLong.length)
})

test('a router restarts: what runs ends well, and the new one knows the fleet', () => {
  const { requests, router } = run([
    { type: 'leave', atMs: 29_000, endpoint: first },
    { type: 'router-restart', atMs: 30_000 },
  ])
  assert.ok(requests.every(({ outcome }) => outcome === 'done'))
  assert.ok(requests.some((one) => one.dispatchedMs! < 30_000 && one.finishedMs! > 30_000))
  assert.equal(sent(requests, first, 30_001, 60_000), 0)
  assert.equal(router.fleet.size, 2)
  assert.equal(router.openRequests, 0)
})

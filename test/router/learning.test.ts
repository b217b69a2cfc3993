/** What the router learns of its endpoints, on simulated engines. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PolicyName, policies } from '../../src/core/policy/registry.ts'
import type { EngineProfile } from '../../src/lab/engine/profile.ts'
import { profileNamed } from '../../src/lab/engine/profiles.ts'
import type { FleetChange } from '../../src/lab/simulator/fleet-change.ts'
import type { SimulatedRequest } from '../../src/lab/simulator/request-record.ts'
import { simulatedWorld } from '../../src/lab/simulator/simulate.ts'
import type { FleetMember } from '../../src/lab/simulator/simulated-fleet.ts'
import { unshared, unsharedDefaults } from '../../src/lab/workload/unshared.ts'
import { chainOf, RouterHarness } from '../support/router-harness.ts'

const fast = profileNamed('qwen3-32b-2xh100')
const slow: EngineProfile = {
  ...fast,
  t0Ms: 4 * fast.t0Ms,
  prefillMsPerToken: 4 * fast.prefillMsPerToken,
  pairMs: 4 * fast.pairMs,
  contextMsPerToken: 4 * fast.contextMsPerToken,
  logicalContextMsPerToken: 4 * fast.logicalContextMsPerToken,
}

function fleetOf(...profiles: EngineProfile[]): FleetMember[] {
  return profiles.map((profile, i) => ({ endpoint: `http://engine-${i}`, profile }))
}

interface Traffic {
  readonly perSecond: number
  readonly seconds: number
  readonly policy?: PolicyName
  readonly seed?: number
}

function worldOf(
  members: readonly FleetMember[],
  traffic: Traffic,
  changes: readonly FleetChange[] = [],
) {
  const { policy = 'warmpath', seed = 1, ...rate } = traffic
  const workload = unshared({ ...unsharedDefaults, ...rate }, seed)
  const information = 'approximate'
  return simulatedWorld({ members, policy: policies[policy], workload, seed, information, changes })
}

const meanMs = (requests: readonly SimulatedRequest[]): number =>
  requests.reduce((sum, one) => sum + one.finishedMs! - one.readyMs, 0) / requests.length

const sentTo = (endpoints: readonly number[], requests: readonly SimulatedRequest[]): number =>
  requests.filter(({ endpoint }) => endpoints.some((i) => endpoint === `http://engine-${i}`)).length

test('F135: each prediction is held against its outcome, and its error is published', () => {
  const { router, world } = worldOf(fleetOf(fast, fast), { perSecond: 3, seconds: 120 })
  const { requests } = world.run()
  let compared = 0
  for (const endpoint of router.fleet.values()) {
    const { relative, samples, trusted } = router.learning.predictionError(endpoint)
    compared += samples
    assert.ok(trusted && relative < 0.25, `off by ${relative}`)
  }
  assert.equal(compared, requests.length)
  const settled = requests.slice(requests.length / 2)
  const errors = settled.map(({ predictedTtftMs, dispatchedMs, firstTokenMs }) =>
    Math.abs(Math.log(predictedTtftMs! / (firstTokenMs! - dispatchedMs!))),
  )
  errors.sort((a, b) => a - b)
  assert.ok(
    errors[errors.length >> 1]! < Math.log(1.15),
    `median factor ${errors[errors.length >> 1]}`,
  )
})

test('a replica that becomes four times slower is believed so within a minute, and relieved', () => {
  const slowAtMs = 120_000
  const victim = 'http://engine-0'
  const { router, world } = worldOf(
    fleetOf(fast, fast, fast, fast),
    { perSecond: 6, seconds: 300 },
    [{ type: 'slow', atMs: slowAtMs, endpoint: victim, factor: 4 }],
  )
  const stepMs = { before: 0, minuteLater: 0 }
  const rates = () => router.learning.rates(router.fleet.get(victim)!)
  world.time.at(slowAtMs, () => {
    stepMs.before = rates().stepMs
  })
  world.time.at(slowAtMs + 60_000, () => {
    stepMs.minuteLater = rates().stepMs
  })
  const { requests } = world.run()
  const factor = stepMs.minuteLater / stepMs.before
  assert.ok(factor > 2.5 && factor < 6, `a step is believed ${factor} times as long`)
  const before = requests.filter(({ readyMs }) => readyMs < slowAtMs)
  const after = requests.filter(({ readyMs }) => readyMs > slowAtMs + 60_000)
  const share = sentTo([0], after) / after.length
  assert.ok(share < (0.5 * sentTo([0], before)) / before.length, `it still gets ${share}`)
})

test('a mixed fleet: slow replicas get what they can do, and nobody waits for them', () => {
  const members = fleetOf(fast, fast, slow, slow)
  const traffic = { perSecond: 4, seconds: 120 }
  const { requests } = worldOf(members, traffic).world.run()
  const share = sentTo([2, 3], requests) / requests.length
  assert.ok(share < 0.25, `slow ones got ${share}`)
  for (const policy of ['round-robin', 'least-request'] as const) {
    const other = worldOf(members, { ...traffic, policy }).world.run()
    assert.ok(meanMs(requests) < 0.9 * meanMs(other.requests), policy)
  }
})

test('F135: predictions that fail are counted, and never make an endpoint look better', () => {
  const harness = new RouterHarness(2, 'round-robin')
  const { router } = harness
  // The one endpoint answers as it should; the other's first tokens are now early, now late.
  for (let i = 0; i < 80; i++) {
    const dispatch = harness.send(chainOf(i, 50))
    const odd = dispatch.endpoint === 'http://e1'
    harness.nowMs += odd ? (i % 4 < 2 ? 5 : 20_000) : 300
    harness.firstToken(dispatch)
    harness.nowMs += 500
    harness.end(dispatch, 'done', { outputTokens: 20, promptTokens: 3_200, cachedTokens: 0 })
  }
  const [steady, odd] = [...router.fleet.values()]
  assert.equal(router.learning.predictionError(steady!).trusted, true)
  assert.equal(router.learning.predictionError(odd!).trusted, false)
  assert.ok(router.counters.predictionDistrusted >= 1)
  const believed = router.learning.rates(odd!)
  for (const [name, value] of Object.entries(router.learning.rates(steady!))) {
    assert.ok(believed[name as keyof typeof believed] >= value, name)
  }
})

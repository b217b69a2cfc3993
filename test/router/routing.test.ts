/** Where requests go under the default policy: each case is a fault seen in the field. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dispatch } from '../../src/core/decisions.ts'
import { blockTokens, chainOf, RouterHarness } from '../support/router-harness.ts'

const blocksOf = (tokens: number): number => Math.round(tokens / blockTokens)

test('a conversation returns to the endpoint that holds it, also through the answer', () => {
  const harness = new RouterHarness(4)
  const prompt = chainOf(1, blocksOf(8_000))
  const answered = chainOf(2, blocksOf(500), prompt)
  const first = harness.send(prompt)
  harness.nowMs = 900
  harness.firstToken(first)
  harness.nowMs = 2_000
  harness.end(first, 'done', {}, { chain: answered, bytes: answered.length * 256 })
  harness.nowMs = 5_000
  const second = harness.send(chainOf(3, blocksOf(200), answered))
  assert.equal(second.endpoint, first.endpoint)
  assert.equal(second.cachedTokens, answered.length * blockTokens, 'the answer is counted too')
  assert.equal(second.sessionId, first.sessionId)
})

test('F055: a miss goes to the idle endpoint, not to the one with the smallest cache', () => {
  const harness = new RouterHarness(2)
  const busy: Dispatch[] = []
  const shared = harness.complete(chainOf(99, blocksOf(60_000)))
  const idle = shared.endpoint
  const other = idle === 'http://e0' ? 'http://e1' : 'http://e0'
  harness.drain(idle, true)
  for (let i = 0; i < 6; i++) busy.push(harness.send(chainOf(i, blocksOf(4_000))))
  harness.drain(idle, false)
  assert.ok(busy.every((dispatch) => dispatch.endpoint === other))
  assert.equal(harness.send(chainOf(500, blocksOf(4_000))).endpoint, idle)
})

test('F056: three giant contexts weigh more than many tiny requests', () => {
  const harness = new RouterHarness(2)
  harness.drain('http://e1', true)
  for (let i = 0; i < 3; i++) harness.send(chainOf(i, blocksOf(100_000)))
  harness.drain('http://e1', false)
  harness.drain('http://e0', true)
  for (let i = 0; i < 12; i++) harness.send(chainOf(100 + i, blocksOf(200)))
  harness.drain('http://e0', false)
  const chosen = harness.send(chainOf(500, blocksOf(2_000)))
  assert.equal(chosen.endpoint, 'http://e1')
})

test('F057: moderate skew does not throw locality away', () => {
  const harness = new RouterHarness(4)
  const sessions = Array.from({ length: 12 }, (_, i) => chainOf(i, blocksOf(12_000)))
  const homes = sessions.map((chain) => harness.complete(chain).endpoint)
  let hits = 0
  sessions.forEach((chain, i) => {
    harness.nowMs += 300
    for (let k = 0; k < i % 3; k++) harness.send(chainOf(1_000 + i * 10 + k, blocksOf(300)))
    if (harness.send(chainOf(50 + i, 2, chain)).endpoint === homes[i]) hits++
  })
  assert.ok(hits >= 10, `${hits} of 12 sessions stayed`)
})

test('F059: a warm endpoint with a queue loses to an idle one when waiting costs more', () => {
  const harness = new RouterHarness(2)
  const warm = chainOf(1, blocksOf(4_000))
  const home = harness.complete(warm).endpoint
  const other = home === 'http://e0' ? 'http://e1' : 'http://e0'
  harness.drain(other, true)
  for (let i = 0; i < 10; i++) harness.send(chainOf(100 + i, blocksOf(20_000)))
  harness.drain(other, false)
  assert.equal(harness.send(chainOf(2, 2, warm)).endpoint, other)
})

test('F060: a sampling group of one prompt is not pinned to one endpoint', () => {
  const harness = new RouterHarness(4)
  const prompt = chainOf(1, blocksOf(1_000))
  harness.complete(prompt)
  const used = new Set<string>()
  for (let i = 0; i < 64; i++) used.add(harness.send(prompt).endpoint)
  assert.ok(used.size >= 3, `64 streams of one prompt used ${used.size} of 4 endpoints`)
})

test('a block that every prompt shares does not send everything to one endpoint', () => {
  const harness = new RouterHarness(8)
  const system = chainOf(1, 1)
  harness.complete(system)
  const counts = new Map<string, number>()
  for (let i = 0; i < 80; i++) {
    const { endpoint } = harness.send(chainOf(10 + i, blocksOf(2_000), system))
    counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1)
  }
  assert.ok(
    Math.max(...counts.values()) <= 12,
    `busiest took ${Math.max(...counts.values())} of 80`,
  )
})

test('F087: a long session is not moved for a short queue', () => {
  const harness = new RouterHarness(2)
  const long = chainOf(1, blocksOf(80_000))
  const home = harness.complete(long).endpoint
  const other = home === 'http://e0' ? 'http://e1' : 'http://e0'
  harness.drain(other, true)
  for (let i = 0; i < 4; i++) harness.send(chainOf(100 + i, blocksOf(1_500)))
  harness.drain(other, false)
  assert.equal(harness.send(chainOf(2, 4, long)).endpoint, home, 'computing 80k again costs more')
})

test('F085: active sessions stay where they are when an endpoint joins', () => {
  const harness = new RouterHarness(4)
  const sessions = Array.from({ length: 40 }, (_, i) => chainOf(i, blocksOf(6_000)))
  const homes = sessions.map((chain) => harness.complete(chain).endpoint)
  harness.join('http://e4')
  let moved = 0
  sessions.forEach((chain, i) => {
    if (harness.complete(chainOf(100 + i, 2, chain)).endpoint !== homes[i]) moved++
  })
  assert.equal(moved, 0)
})

test('F053: an overload report that is never renewed stops counting', () => {
  const harness = new RouterHarness(2)
  const signals = {
    running: 200,
    waiting: 500,
    kvUsage: 1,
    asleep: null,
    prefixQueriedTokens: null,
    prefixHitTokens: null,
  }
  harness.router.handle({ type: 'endpoint-observed', atMs: 0, endpoint: 'http://e0', signals })
  assert.equal(harness.send(chainOf(1, 8)).endpoint, 'http://e1')
  harness.nowMs = 600_000
  const used = new Set<string>()
  for (let i = 0; i < 8; i++) used.add(harness.send(chainOf(10 + i, 8)).endpoint)
  assert.equal(used.size, 2, 'both are used again once the report is old')
})

test('a model that no endpoint serves is refused by name, and the choice is listed', () => {
  const harness = new RouterHarness(1)
  const refused = harness.arrive(chainOf(1, 1), { model: 'nope' })
  assert.equal(refused.type, 'refuse')
  assert.match(refused.type === 'refuse' ? refused.message : '', /'nope'.*Served here: m\./)
})

test('with nothing up, the refusal says what is wrong with each', () => {
  const harness = new RouterHarness(2)
  harness.probe('http://e0', false, 'connection refused')
  harness.probe('http://e1', false, 'connection refused')
  const refused = harness.arrive(chainOf(1, 1))
  assert.equal(refused.type === 'refuse' && refused.code, 'no_endpoint')
  assert.match(refused.type === 'refuse' ? refused.message : '', /of 2: 2 connection refused/)
})

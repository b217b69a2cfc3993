/** Sessions that outgrow the memory of the fleet: who starts, who waits, and how waiting ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomInt, seededRandom } from '../../src/base/random.ts'
import { admissions } from '../../src/core/admission/registry.ts'
import type { Decision } from '../../src/core/decisions.ts'
import { printedSeed } from '../support/printed-seed.ts'
import { blockTokens, chainOf, RouterHarness } from '../support/router-harness.ts'

const holdMsMax = 60_000

/** Endpoints of 400,000 tokens each. */
function harnessOf(endpoints: number, holdMs = holdMsMax): RouterHarness {
  const admission = { make: admissions['working-set'], holdMsMax: holdMs }
  return new RouterHarness(endpoints, 'warmpath', 1, admission)
}

const blocksOf = (tokens: number): number => Math.round(tokens / blockTokens)
/** A context of its own, large enough that three of them do not fit one endpoint. */
const large = (seed: number) => chainOf(seed, blocksOf(150_000))

const started = (decisions: readonly Decision[]): string[] =>
  decisions.flatMap((one) => (one.type === 'dispatch' ? [one.requestId] : []))

test('while everything fits nobody waits', () => {
  const harness = harnessOf(2)
  for (let seed = 0; seed < 4; seed++) harness.send(large(seed))
  assert.equal(harness.router.heldRequests, 0)
  assert.deepEqual([harness.inFlight('http://e0'), harness.inFlight('http://e1')], [2, 2])
})

test('a session that does not fit waits, and starts when a place is given up', () => {
  const harness = harnessOf(1)
  const first = harness.send(large(1))
  harness.send(large(2))
  const hold = harness.arrive(large(3))
  assert.equal(hold.type, 'hold')
  assert.match(hold.type === 'hold' ? hold.reason : '', /no room for a context of 15\d{4} tokens/)
  assert.equal(harness.router.heldRequests, 1)
  harness.nowMs += 1_000
  harness.firstToken(first)
  // Its session rests and keeps its place: nobody starts yet.
  assert.deepEqual(started(harness.end(first)), [])
  // Idle for longer than its context is worth, it loses the place to whoever waits.
  harness.nowMs += 50_000
  const [dispatch] = harness.tick()
  assert.ok(dispatch?.type === 'dispatch' && dispatch.requestId === hold.requestId)
  assert.equal(dispatch.queueWaitMs, 51_000)
  assert.match(dispatch.reasons.summary, /instead of sessions long idle/)
  assert.equal(harness.router.heldRequests, 0)
})

test('a session with a place does not wait, whoever else does', () => {
  const harness = harnessOf(1)
  const chain = large(1)
  const first = harness.send(chain)
  harness.send(large(2))
  harness.arrive(large(3))
  harness.firstToken(first)
  harness.end(first)
  const next = harness.send(chainOf(9, 8, chain))
  assert.match(next.reasons.summary, /^at its place/)
})

test('an endpoint without work takes who waits once that has cost as much as a context', () => {
  const harness = harnessOf(1)
  const first = harness.send(large(1))
  const second = harness.send(large(2))
  const third = harness.arrive(large(3))
  harness.firstToken(first)
  harness.end(first)
  harness.firstToken(second)
  const decisions = harness.end(second)
  assert.deepEqual(started(decisions), [])
  const wake = decisions.find((one) => one.type === 'wake')
  // A context of 150,000 tokens is some twenty seconds of prefill by the prior; a minute at rest
  // is what its place is worth.
  assert.ok(wake !== undefined && wake.atMs > 5_000 && wake.atMs < 40_000, `${wake?.atMs}`)
  harness.nowMs = wake.atMs
  const [dispatch] = harness.tick()
  assert.ok(dispatch?.type === 'dispatch' && third.type === 'hold')
  assert.equal(dispatch.requestId, third.requestId)
  assert.match(dispatch.reasons.summary, /nothing to do/)
})

test('who waits long is not passed by smaller ones for ever', () => {
  const harness = harnessOf(1)
  harness.send(large(1))
  const small = (seed: number) => chainOf(seed, blocksOf(60_000))
  const first = harness.send(small(2))
  harness.send(small(3))
  const hold = harness.arrive(large(4))
  assert.equal(hold.type, 'hold')
  harness.nowMs += 59_000
  const passing = harness.send(small(5))
  assert.equal(passing.type, 'dispatch')
  harness.nowMs += 2_000
  harness.tick()
  // There would be room for this one, but not for both.
  harness.firstToken(first)
  harness.end(first, 'client-gone')
  assert.equal(harness.arrive(chainOf(6, blocksOf(50_000))).type, 'hold')
})

test('a context that is quickly computed again is never worth waiting for', () => {
  const harness = harnessOf(1)
  for (let seed = 0; seed < 200; seed++) {
    harness.send(chainOf(seed, blocksOf(2_000)), { maxOutputTokens: 2_000 })
  }
  assert.equal(harness.router.heldRequests, 0)
  assert.equal(harness.inFlight('http://e0'), 200)
})

test('the older session goes first', () => {
  const harness = harnessOf(1)
  const old = large(1)
  const first = harness.send(old)
  harness.nowMs += 1_000
  const second = harness.send(large(2))
  const young = harness.arrive(large(3))
  harness.firstToken(first)
  harness.end(first)
  // The first session loses its place to the third, and must wait for another behind nobody.
  harness.nowMs += 45_000
  assert.deepEqual(started(harness.tick()), [young.type === 'hold' && young.requestId])
  const fourth = harness.arrive(large(4))
  harness.nowMs += 1_000
  const back = harness.arrive(chainOf(9, 8, old))
  assert.deepEqual([fourth.type, back.type], ['hold', 'hold'])
  harness.firstToken(second)
  harness.end(second)
  harness.nowMs += 55_000
  const [next] = started(harness.tick())
  assert.equal(next, back.type === 'hold' && back.requestId)
})

test('whoever leaves the queue leaves no trace', () => {
  const harness = harnessOf(1)
  harness.send(large(1))
  harness.send(large(2))
  const { sessions } = harness.router
  const before = sessions.size
  const hold = harness.arrive(large(3))
  assert.ok(hold.type === 'hold')
  harness.end(hold, 'client-gone')
  assert.deepEqual([harness.router.heldRequests, sessions.size], [0, before])
  assert.equal(harness.totalInFlight, 2)
  harness.nowMs += 2 * holdMsMax
  assert.deepEqual(harness.tick(), [])
})

test('a hold ends at its deadline with an honest time, and the session keeps its turn', () => {
  const harness = harnessOf(1)
  harness.send(large(1))
  harness.send(large(2))
  const hold = harness.arrive(large(3))
  assert.ok(hold.type === 'hold')
  assert.equal(hold.deadlineMs, holdMsMax)
  harness.nowMs = holdMsMax - 1
  const [wake] = harness.tick()
  assert.deepEqual(wake, { type: 'wake', atMs: holdMsMax })
  const younger = harness.arrive(large(4))
  harness.nowMs = holdMsMax
  const [refuse] = harness.tick()
  assert.ok(refuse?.type === 'refuse')
  assert.equal(refuse.code, 'fleet_full')
  assert.match(refuse.message, /waited 60 s: no room/)
  assert.ok(refuse.retryAfterMs! >= 1_000 && refuse.retryAfterMs! <= 2 * holdMsMax)
  assert.equal(harness.router.counters.holdsExpired, 1)
  const again = harness.arrive(large(3))
  assert.ok(again.type === 'hold' && younger.type === 'hold')
  harness.leave('http://e0')
  harness.join('http://e0')
  assert.equal(harness.router.heldRequests, 0)
})

test('places on an endpoint that is gone are free again', () => {
  const harness = harnessOf(1)
  harness.send(large(1))
  harness.send(large(2))
  const hold = harness.arrive(large(3))
  assert.equal(hold.type, 'hold')
  harness.join('http://e1')
  assert.equal(harness.router.heldRequests, 0)
  assert.equal(harness.router.admission?.places, 3)
  harness.leave('http://e0')
  assert.equal(harness.router.admission?.places, 1)
})

test('what others hold as well is not counted against a session', () => {
  const harness = harnessOf(1)
  const shared = large(1)
  const first = harness.send(shared)
  harness.firstToken(first)
  harness.end(first)
  // Three that share it need little more than it does alone.
  for (const seed of [2, 3, 4]) harness.send(chainOf(seed, 8, shared))
  assert.equal(harness.router.heldRequests, 0)
})

test('whatever comes and goes, nobody waits for ever beside an idle fleet', (t) => {
  const random = seededRandom(printedSeed(t))
  for (let round = 0; round < 20; round++) {
    const harness = harnessOf(1 + randomInt(random, 3), Number.POSITIVE_INFINITY)
    const running = new Map<string, { readonly requestId: string }>()
    const held = new Set<string>()
    const take = (decisions: readonly Decision[]): void => {
      for (const one of decisions) {
        if (one.type === 'hold') held.add(one.requestId)
        if (one.type !== 'dispatch') continue
        held.delete(one.requestId)
        running.set(one.requestId, one)
      }
    }
    const endOne = (): void => {
      const [requestId, dispatch] = [...running][randomInt(random, running.size)]!
      running.delete(requestId)
      take(harness.end(dispatch, 'done', { cachedTokens: 0, promptTokens: 1, outputTokens: 1 }))
    }
    for (let step = 0; step < 120; step++) {
      harness.nowMs += randomInt(random, 20_000)
      const chain = chainOf(randomInt(random, 30), blocksOf(20_000 + randomInt(random, 500_000)))
      if (random.next() < 0.6) take(harness.arrival(chain))
      else if (running.size > 0) endOne()
    }
    while (running.size > 0) endOne()
    for (let ticks = 0; held.size > 0 && ticks < 2_000; ticks++) {
      harness.nowMs += 1_000
      const decisions = harness.tick()
      take(decisions)
      while (running.size > 0) endOne()
    }
    assert.equal(held.size, 0, `round ${round}: ${held.size} requests never got their turn`)
    assert.equal(harness.router.heldRequests, 0)
    assert.equal(harness.totalInFlight, 0)
  }
})

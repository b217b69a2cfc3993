/** Select and reserve are one step; a reservation comes off once, and on the right instance. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Dispatch } from '../../src/core/decisions.ts'
import { policyNames } from '../../src/core/policy/registry.ts'
import { printedSeed } from '../support/printed-seed.ts'
import { chainOf, RouterHarness } from '../support/router-harness.ts'

for (const policy of ['warmpath', 'least-request', 'round-robin'] as const) {
  test(`F047: ${policy}: 100 arrivals at once spread over 4 idle endpoints within 1`, () => {
    const harness = new RouterHarness(4, policy)
    for (let i = 0; i < 100; i++) harness.send(chainOf(1_000 + i, 8))
    const counts = [0, 1, 2, 3].map((i) => harness.inFlight(`http://e${i}`))
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `in flight ${counts}`)
  })
}

test('F048: the end of a request on a removed endpoint does not touch its successor', () => {
  const harness = new RouterHarness(1)
  const old = harness.send(chainOf(1, 4))
  harness.leave('http://e0')
  harness.join('http://e0')
  assert.equal(harness.inFlight('http://e0'), 0)
  harness.end(old)
  assert.equal(harness.inFlight('http://e0'), 0)
})

test('F048, F032: a restarted process starts from zero, in counts and in cache', () => {
  const harness = new RouterHarness(2)
  const chain = chainOf(1, 40)
  harness.describe('http://e0', { instanceId: 'first' })
  harness.describe('http://e1', { instanceId: 'first' })
  const home = harness.complete(chain).endpoint
  const running = harness.send(chainOf(7, 4, chain))
  assert.equal(running.endpoint, home)
  assert.ok(running.cachedTokens > 0)
  harness.describe(home, { instanceId: 'second' })
  assert.equal(harness.inFlight(home), 0)
  harness.end(running)
  assert.equal(harness.inFlight(home), 0)
  const again = harness.send(chainOf(8, 4, chain))
  const seen = again.reasons.candidates.find((one) => one.endpoint === home)
  assert.equal(seen?.gpuTokens, 0, 'nothing is believed cached in a new process')
})

test('F049: work counts from its dispatch, not from its first answer', () => {
  const harness = new RouterHarness(3)
  const chosen = new Set<string>()
  for (let i = 0; i < 3; i++) chosen.add(harness.send(chainOf(i, 8)).endpoint)
  assert.equal(chosen.size, 3)
})

test('a failed attempt goes to the next endpoint, at most twice, and then is refused', () => {
  const harness = new RouterHarness(4)
  const first = harness.send(chainOf(1, 4))
  const second = harness.fail(first, 'refused', false) as Dispatch
  const third = harness.fail(second, 'refused', false) as Dispatch
  const last = harness.fail(third, 'refused', false)
  const tried = [first.endpoint, second.endpoint, third.endpoint]
  assert.equal(new Set(tried).size, 3)
  assert.deepEqual([first.attempt, second.attempt, third.attempt], [1, 2, 3])
  assert.equal(last.type, 'refuse')
  assert.equal(harness.totalInFlight, 0)
})

test('F015: what may still run stays on the ledger of the endpoint that may run it', () => {
  const harness = new RouterHarness(2)
  const first = harness.send(chainOf(1, 4))
  const second = harness.fail(first, 'reset', true) as Dispatch
  assert.notEqual(second.endpoint, first.endpoint)
  assert.equal(harness.inFlight(first.endpoint), 1)
  assert.equal(harness.inFlight(second.endpoint), 1)
  harness.nowMs = 60_000
  harness.router.handle({ type: 'timer-due', atMs: harness.nowMs })
  assert.equal(harness.inFlight(first.endpoint), 0, 'within a bound')
})

for (const policy of policyNames) {
  test(`property: ${policy}: whatever happens, in-flight counts neither leak nor go negative`, (t) => {
    const step = fc.record({
      action: fc.constantFrom(
        ...(['send', 'send', 'first', 'progress', 'done', 'gone', 'failed'] as const),
        ...(['attempt', 'attempt-ran', 'leave', 'join', 'restart', 'probe', 'time'] as const),
      ),
      pick: fc.nat(1_000),
    })
    fc.assert(
      fc.property(fc.integer(), fc.array(step, { maxLength: 120 }), (seed, steps) => {
        const harness = new RouterHarness(3, policy, seed)
        const open: Dispatch[] = []
        for (const { action, pick } of steps) {
          harness.nowMs += pick % 17
          act(harness, open, action, pick)
          for (const endpoint of harness.router.fleet.values()) {
            assert.ok(endpoint.ledger.inFlight >= 0)
          }
          assert.equal(harness.router.openRequests, open.length)
        }
        for (const dispatch of open) harness.end(dispatch)
        harness.nowMs += 1e6
        harness.router.handle({ type: 'timer-due', atMs: harness.nowMs })
        assert.equal(harness.router.openRequests, 0)
        assert.equal(harness.totalInFlight, 0)
      }),
      { numRuns: 60, seed: printedSeed(t) },
    )
  })
}

function act(harness: RouterHarness, open: Dispatch[], action: string, pick: number): void {
  const endpoint = `http://e${pick % 4}`
  if (action === 'send') {
    const decision = harness.arrive(chainOf(pick % 5, 1 + (pick % 30)))
    if (decision.type === 'dispatch') open.push(decision)
  } else if (action === 'leave') harness.leave(endpoint)
  else if (action === 'join') harness.join(endpoint)
  else if (action === 'restart') harness.describe(endpoint, { instanceId: `i${pick}` })
  else if (action === 'probe') harness.probe(endpoint, pick % 3 > 0, 'connection refused')
  else if (action === 'time') harness.router.handle({ type: 'timer-due', atMs: harness.nowMs })
  else if (open.length > 0) actOnOpen(harness, open, action, pick)
}

function actOnOpen(harness: RouterHarness, open: Dispatch[], action: string, pick: number): void {
  const at = pick % open.length
  const dispatch = open[at]!
  if (action === 'first') harness.firstToken(dispatch)
  else if (action === 'progress') {
    harness.router.handle({
      type: 'output-progressed',
      atMs: harness.nowMs,
      requestId: dispatch.requestId,
      outputTokens: pick,
    })
  } else if (action === 'attempt' || action === 'attempt-ran') {
    const next = harness.fail(dispatch, 'reset', action === 'attempt-ran')
    if (next.type === 'dispatch') open[at] = next
    else open.splice(at, 1)
  } else {
    const outcome = action === 'gone' ? 'client-gone' : action === 'failed' ? 'failed' : 'done'
    harness.end(dispatch, outcome, { outputTokens: pick, promptTokens: pick + 1, cachedTokens: 0 })
    open.splice(at, 1)
  }
}

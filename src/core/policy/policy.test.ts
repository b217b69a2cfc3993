/** What the policies promise together, and each by itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidate, context, fleet, policyConformance, request } from './policy.conformance.ts'
import type { Candidate } from './policy.ts'
import { policies, policyNames } from './registry.ts'

for (const name of policyNames) policyConformance(name, policies[name])

for (const name of [
  'warmpath',
  'least-request',
  'prefix-only',
  'random',
  'power-of-two',
] as const) {
  test(`F049: ${name} rotates ties instead of favouring the first`, () => {
    const policy = policies[name]()
    const shared = context(5)
    const idle = Array.from({ length: 4 }, (_, slot) => candidate(slot))
    const firsts = new Set<number>()
    for (let i = 0; i < 64; i++) firsts.add(policy.rank(request(null), idle, shared).order[0]!)
    assert.equal(firsts.size, 4)
  })
}

test('round-robin: takes turns, also when an endpoint is missing for a while', () => {
  const policy = policies['round-robin']()
  const all = fleet(3)
  const turn = (candidates: Candidate[]): number => {
    const ranking = policy.rank(request(null), candidates, context(1))
    const winner = candidates[ranking.order[0]!]!
    policy.dispatched?.(request(null), winner, context(1))
    return winner.slot
  }
  const without1 = [all[0]!, all[2]!]
  assert.deepEqual([turn(all), turn(all), turn(all), turn(all)], [0, 1, 2, 0])
  assert.deepEqual([turn(without1), turn(all), turn(all)], [2, 0, 1])
})

test('F085: consistent-hash: one more endpoint takes about 1/n of the keys and moves no other', () => {
  const policy = policies['consistent-hash']()
  const owner = (session: string, count: number): number =>
    policy.rank(
      request(session),
      Array.from({ length: count }, (_, slot) => candidate(slot)),
      context(1),
    ).order[0]!
  let moved = 0
  for (let i = 0; i < 1_000; i++) {
    const before = owner(`session-${i}`, 4)
    const after = owner(`session-${i}`, 5)
    if (after !== before) {
      moved++
      assert.equal(after, 4, 'a key moves only to the new endpoint')
    }
  }
  assert.ok(moved > 120 && moved < 280, `${moved} of 1,000 keys moved`)
})

test('consistent-hash: an owner that is full passes its keys on', () => {
  const policy = policies['consistent-hash']()
  const idle = Array.from({ length: 4 }, (_, slot) => candidate(slot))
  const owner = policy.rank(request('s'), idle, context(1)).order[0]!
  const loaded = idle.map((one) => (one.slot === owner ? candidate(owner, { inFlight: 9 }) : one))
  assert.notEqual(policy.rank(request('s'), loaded, context(1)).order[0], owner)
})

test('session-affinity: stays, and goes to the least busy where its endpoint is gone', () => {
  const policy = policies['session-affinity']()
  const candidates = [candidate(0, { inFlight: 9 }), candidate(1, { inFlight: 2 })]
  const stays = policy.rank(request('s', 'http://engine-0'), candidates, context(1))
  assert.equal(stays.order[0], 0)
  const moves = policy.rank(request('s', 'http://engine-9'), candidates, context(1))
  assert.equal(moves.order[0], 1)
})

test('warmpath: the least total of all costs wins, not the longest prefix', () => {
  const policy = policies.warmpath()
  const candidates = [candidate(0, { gpuTokens: 900, costMs: 50 }), candidate(1, { costMs: 20 })]
  assert.equal(policy.rank(request(null), candidates, context(1)).order[0], 1)
  assert.equal(policies['prefix-only']().rank(request(null), candidates, context(1)).order[0], 0)
})

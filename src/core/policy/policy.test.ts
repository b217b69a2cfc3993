/** One suite that every policy passes; what only one promises is behind it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { emptyChain } from '../block-chain.ts'
import type { Candidate, PolicyContext, RequestView } from './policy.ts'
import { policies, policyNames } from './registry.ts'

interface Shape {
  readonly inFlight?: number
  readonly gpuTokens?: number
  readonly costMs?: number
}

function candidate(slot: number, shape: Shape = {}): Candidate {
  const prefillMs = shape.costMs ?? 10
  return {
    endpoint: `http://engine-${slot}`,
    slot,
    inFlight: shape.inFlight ?? 0,
    queuedTokens: 0,
    contextTokens: 0,
    kvCapacityTokens: 100_000,
    gpuTokens: shape.gpuTokens ?? 0,
    hostTokens: 0,
    signals: null,
    cost: () => ({ waitMs: 0, prefillMs, decodeMs: 0, externalityMs: 0 }),
  }
}

function request(sessionId: string | null, sessionEndpoint: string | null = null): RequestView {
  return {
    requestId: 'r',
    chain: emptyChain,
    promptTokens: 1_000,
    outputTokens: 100,
    sessionId,
    sessionEndpoint,
    tenant: 'default',
  }
}

const context = (seed: number): PolicyContext => ({ nowMs: 0, random: seededRandom(seed) })

function fleet(count: number): Candidate[] {
  return Array.from({ length: count }, (_, slot) => candidate(slot, { inFlight: (slot * 7) % 5 }))
}

for (const name of policyNames) {
  test(`${name}: ranks every candidate exactly once, with a finite score each`, () => {
    for (const count of [1, 2, 5, 64]) {
      const ranking = policies[name]().rank(request('s'), fleet(count), context(count))
      assert.deepEqual(
        [...ranking.order].sort((a, b) => a - b),
        Array.from({ length: count }, (_, i) => i),
      )
      assert.equal(ranking.scores.length, count)
      assert.ok(ranking.scores.every(Number.isFinite))
      assert.notEqual(ranking.summary, '')
    }
  })

  test(`${name}: the order is the order of the scores`, () => {
    const { order, scores } = policies[name]().rank(request('s'), fleet(9), context(3))
    for (let i = 1; i < order.length; i++) {
      assert.ok(scores[order[i - 1]!]! <= scores[order[i]!]!, `${order} by ${scores}`)
    }
  })

  test(`${name}: the same seed gives the same ranking, and a ranking alone changes nothing`, () => {
    const policy = policies[name]()
    const candidates = fleet(6)
    const first = policy.rank(request('s'), candidates, context(11))
    const second = policy.rank(request('s'), candidates, context(11))
    assert.deepEqual(second, first)
  })
}

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

/** One suite that every policy passes, the product's and those of the lab. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { emptyChain } from '../block-chain.ts'
import type { EngineSignals } from '../fleet/endpoint.ts'
import type { Candidate, Policy, PolicyContext, RequestView } from './policy.ts'

const noSignals: EngineSignals = {
  running: null,
  waiting: null,
  kvUsage: null,
  asleep: null,
  prefixQueriedTokens: null,
  prefixHitTokens: null,
}

export interface Shape {
  readonly inFlight?: number
  readonly gpuTokens?: number
  readonly costMs?: number
  readonly queued?: number
  readonly queuedTokens?: number
  readonly contextTokens?: number
  readonly hostTokens?: number
  readonly kvUsage?: number
}

export function candidate(slot: number, shape: Shape = {}): Candidate {
  const prefillMs = shape.costMs ?? 10
  return {
    endpoint: `http://engine-${slot}`,
    slot,
    inFlight: shape.inFlight ?? 0,
    queued: shape.queued ?? 0,
    queuedTokens: shape.queuedTokens ?? 0,
    contextTokens: shape.contextTokens ?? 0,
    kvCapacityTokens: 100_000,
    gpuTokens: shape.gpuTokens ?? 0,
    hostTokens: shape.hostTokens ?? 0,
    signals: shape.kvUsage === undefined ? null : { ...noSignals, kvUsage: shape.kvUsage },
    cost: () => ({ waitMs: 0, prefillMs, decodeMs: 0, externalityMs: 0 }),
  }
}

export function request(
  sessionId: string | null,
  sessionEndpoint: string | null = null,
): RequestView {
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

export const context = (seed: number): PolicyContext => ({ nowMs: 0, random: seededRandom(seed) })

export function fleet(count: number): Candidate[] {
  return Array.from({ length: count }, (_, slot) => candidate(slot, { inFlight: (slot * 7) % 5 }))
}

/** What every policy promises. */
export function policyConformance(name: string, make: () => Policy): void {
  test(`${name}: ranks every candidate exactly once, with a finite score each`, () => {
    for (const count of [1, 2, 5, 64]) {
      const ranking = make().rank(request('s'), fleet(count), context(count))
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
    const { order, scores } = make().rank(request('s'), fleet(9), context(3))
    for (let i = 1; i < order.length; i++) {
      assert.ok(scores[order[i - 1]!]! <= scores[order[i]!]!, `${order} by ${scores}`)
    }
  })

  test(`${name}: the same seed gives the same ranking, and a ranking alone changes nothing`, () => {
    const policy = make()
    const candidates = fleet(6)
    const first = policy.rank(request('s'), candidates, context(11))
    const second = policy.rank(request('s'), candidates, context(11))
    assert.deepEqual(second, first)
  })
}

/** Figures from records made by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimulatedRequest, SimulatedSession } from '../simulator/request-record.ts'
import { balanceOf } from './balance.ts'
import { fairnessOf } from './fairness.ts'
import { goodputOf } from './goodput.ts'
import { outputTokensIn, tpotMs, ttftMs } from './request-times.ts'
import { reuseOf } from './reuse.ts'
import { quantileOf, spreadOf } from './spread.ts'
import { steadyMiddle } from './steady-middle.ts'
import { throughputIn } from './throughput.ts'

const close = (actual: number | null, expected: number) =>
  assert.ok(actual !== null && Math.abs(actual - expected) < 1e-9, `${actual}, not ${expected}`)

function request(some: Partial<SimulatedRequest>): SimulatedRequest {
  return {
    sessionId: 's',
    turn: 0,
    tenant: 'a',
    priorityClass: 'standard',
    readyMs: 0,
    promptTokens: 1_000,
    outputTokens: 11,
    reusableTokens: 0,
    endpoint: 'x',
    attempts: 1,
    dispatchedMs: 500,
    firstTokenMs: 1_000,
    finishedMs: 2_000,
    cachedTokens: 0,
    predictedTtftMs: null,
    predictedCachedTokens: null,
    outcome: 'done',
    reason: null,
    ...some,
  }
}

const refused = request({
  outcome: 'refused',
  dispatchedMs: null,
  firstTokenMs: null,
  finishedMs: null,
  endpoint: null,
})

const session = (submittedMs: number, endedMs: number | null): SimulatedSession => ({
  id: `${submittedMs}`,
  tenant: 'a',
  priorityClass: 'standard',
  submittedMs,
  endedMs,
  completed: endedMs !== null,
})

test('quantiles are interpolated between raw samples', () => {
  close(quantileOf([1, 2, 3, 4], 0.5), 2.5)
  close(quantileOf([1, 2, 3, 4], 1), 4)
  assert.deepEqual(spreadOf([4, 1, 3, 2, 5]), {
    count: 5,
    mean: 3,
    p50: 3,
    p90: 4.6,
    p99: 4.96,
    max: 5,
  })
  assert.deepEqual(spreadOf([]), {
    count: 0,
    mean: null,
    p50: null,
    p90: null,
    p99: null,
    max: null,
  })
})

test('the first token counts from readiness, so every hold is in it', () => {
  close(ttftMs(request({ readyMs: 100, dispatchedMs: 900 })), 900)
  assert.equal(ttftMs(refused), null)
})

test('time per output token is over the tokens after the first', () => {
  close(tpotMs(request({})), 100)
  assert.equal(tpotMs(request({ outputTokens: 1 })), null)
})

test('goodput: all of the SLO, and refusals count as missed', () => {
  const requests = [
    request({}),
    request({ firstTokenMs: 2_500, finishedMs: 3_000 }),
    request({ finishedMs: 1_601 }),
    refused,
  ]
  const slo = { ttftMs: 2_000, tpotMs: 60 }
  assert.deepEqual(goodputOf([...requests, request({ finishedMs: 1_500 })], slo, 10_000), {
    slo,
    perSecond: 0.1,
    share: 0.2,
  })
})

test('a prompt counts at its first token, an answer as it comes', () => {
  const window = { fromMs: 900, toMs: 1_500 }
  close(outputTokensIn(request({}), 900, 1_500), 5.5)
  const { promptTokens, outputTokens, totalTokens, requests } = throughputIn(
    [request({}), request({ firstTokenMs: 1_600 }), refused],
    window,
  )
  close(promptTokens, 1_000 / 0.6)
  close(outputTokens, 5.5 / 0.6)
  close(totalTokens, 1_005.5 / 0.6)
  assert.equal(requests, 0)
})

test('reuse: what was cached, of what could have been', () => {
  const requests = [
    request({ reusableTokens: 800, cachedTokens: 600 }),
    request({ reusableTokens: 0, cachedTokens: 0 }),
    refused,
  ]
  assert.deepEqual(reuseOf(requests), {
    promptTokens: 2_000,
    cachedShare: 0.3,
    reusableShare: 0.4,
    captured: 0.75,
    recomputedTokens: 200,
  })
  assert.equal(reuseOf([request({})]).captured, null)
})

test('balance: most work of an endpoint over the mean, idle endpoints included', () => {
  const requests = [
    request({ endpoint: 'x', dispatchedMs: 0 }),
    request({ endpoint: 'y', dispatchedMs: 20_000, cachedTokens: 500 }),
  ]
  const { wholeRun, tenSeconds } = balanceOf(requests, 4)
  close(wholeRun, 1_000 / 375)
  close(tenSeconds, 4)
  assert.deepEqual(balanceOf([refused], 4), { wholeRun: null, tenSeconds: null })
})

test('fairness: equal service is 1, and only contention counts', () => {
  const of = (tenant: string, readyMs: number, firstTokenMs: number, promptTokens = 978) =>
    request({ tenant, readyMs, firstTokenMs, promptTokens })
  const even = [of('a', 0, 100), of('a', 0, 300), of('b', 0, 200), of('b', 0, 400)]
  // b's last is served when a waits no more: both had 300 ms of contention, a twice as much of it.
  close(fairnessOf(even).jain, 0.9)
  assert.equal(fairnessOf(even).serviceGapTokens, 1_000)
  const greedy = [of('a', 0, 100), of('a', 0, 200), of('a', 0, 300), of('b', 0, 400)]
  assert.deepEqual(fairnessOf(greedy), { jain: 0.5, serviceGapTokens: 3_000 })
  const apart = [of('a', 0, 100), of('b', 200, 300)]
  assert.deepEqual(fairnessOf(apart), { jain: null, serviceGapTokens: null })
})

test('the steady middle: all at once', () => {
  const ends = [100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]
  // Fewer than eight of ten are open from the third end on.
  assert.deepEqual(
    steadyMiddle(
      ends.map((end) => session(0, end)),
      1_000,
    ),
    { fromMs: 45, toMs: 300 },
  )
})

test('the steady middle: a new one for each that ends', () => {
  const sessions = [session(0, 400), session(0, 500), session(400, 900), session(500, 1_100)]
  assert.deepEqual(steadyMiddle(sessions, 1_100), { fromMs: 135, toMs: 900 })
})

test('the steady middle: open loop, and a run that was cut off', () => {
  const sparse = [0, 100, 200, 300, 1_000].map((atMs) => session(atMs, atMs + 50))
  assert.deepEqual(steadyMiddle(sparse, 1_050), { fromMs: 157.5, toMs: 1_050 })
  assert.equal(steadyMiddle([], 0), null)
  assert.deepEqual(steadyMiddle([session(0, null)], 100), { fromMs: 15, toMs: 100 })
})

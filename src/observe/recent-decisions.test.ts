import assert from 'node:assert/strict'
import test from 'node:test'
import { emptyChain } from '../core/block-chain.ts'
import type { RequestArrived } from '../core/events.ts'
import { RecentDecisions } from './recent-decisions.ts'

const arrived = (requestId: string): RequestArrived => ({
  type: 'request-arrived',
  atMs: 1,
  requestId,
  model: 'm',
  chain: emptyChain,
  promptBytes: 12,
  maxOutputTokens: null,
  streaming: true,
  sessionKey: null,
  tenant: '',
  priorityClass: 'standard',
  pinnedTo: null,
})

const hold = (requestId: string, reason: string) =>
  ({ type: 'hold', requestId, reason, deadlineMs: 9 }) as const

test('a request is found with its steps and its end', () => {
  const recent = new RecentDecisions(10)
  recent.arrived(arrived('a'))
  recent.decided(2, hold('a', 'full'))
  const end = {
    atMs: 5,
    outcome: 'client-gone',
    phase: 'connect',
    cause: 'client-gone',
    usage: { promptTokens: null, outputTokens: null, cachedTokens: null },
    endpoint: 'http://e0',
    status: null,
    attempts: 1,
    ttftMs: null,
    ttftSinceDispatchMs: null,
    e2eMs: 4,
  } as const
  assert.equal(recent.find('a')!.end, null)
  recent.ended('a', end)
  const found = recent.find('a')!
  assert.deepEqual(found.steps, [{ atMs: 2, what: hold('a', 'full') }])
  assert.deepEqual(found.end, end)
  assert.equal(recent.find('b'), null)
})

test('F131: the ring keeps the last requests and the last steps, whatever comes', () => {
  const recent = new RecentDecisions(100)
  for (let i = 0; i < 10_000; i++) recent.arrived(arrived(`r${i}`))
  assert.equal(recent.size, 100)
  assert.equal(recent.find('r9899'), null)
  assert.notEqual(recent.find('r9900'), null)
  for (let i = 0; i < 1_000; i++) recent.decided(i, hold('r9999', `turn ${i}`))
  const { steps } = recent.find('r9999')!
  assert.ok(steps.length <= 16)
  assert.deepEqual(steps.at(-1)!.what, hold('r9999', 'turn 999'))
})

test('what is told of a forgotten request does nothing', () => {
  const recent = new RecentDecisions(1)
  recent.arrived(arrived('a'))
  recent.arrived(arrived('b'))
  recent.decided(3, hold('a', 'late'))
  assert.equal(recent.find('a'), null)
  assert.equal(recent.size, 1)
})

test('a dispatch is found as it was decided, and so is what followed it', () => {
  const recent = new RecentDecisions(2)
  const candidate = (endpoint: string) => ({
    endpoint,
    gpuTokens: 1,
    hostTokens: 2,
    waitMs: 3,
    prefillMs: 4.5,
    decodeMs: 5,
    externalityMs: 6,
    score: 18.5,
  })
  const dispatch = (requestId: string, endpoint: string, attempt: number) =>
    ({
      type: 'dispatch',
      requestId,
      endpoint,
      attempt,
      sessionId: attempt === 1 ? null : 's1',
      promptTokens: 10.5,
      cachedTokens: 3,
      predictedTtftMs: 7.5,
      queueWaitMs: 0,
      reasons: {
        policy: 'warmpath',
        summary: 'as told',
        candidates: [candidate(endpoint), candidate('http://other')],
        excluded: [{ endpoint: 'http://down', reason: 'connection refused' }],
      },
    }) as const
  // The places of the ring are used again: nothing of an older request may show through.
  for (const id of ['old', 'older', 'a']) {
    recent.arrived(arrived(id))
    recent.decided(2, dispatch(id, `http://${id}`, 1))
  }
  const failed = { phase: 'sent', cause: 'reset', mayRun: true, endpointFault: true } as const
  const event = { ...failed, mayRetry: true, retryAfterMs: null, atMs: 3, requestId: 'a' } as const
  recent.attemptFailed({ type: 'attempt-failed', ...event })
  recent.decided(4, dispatch('a', 'http://b', 2))
  assert.deepEqual(recent.find('a')!.steps, [
    { atMs: 2, what: dispatch('a', 'http://a', 1) },
    { atMs: 3, what: { type: 'failed', phase: 'sent', cause: 'reset' } },
    { atMs: 4, what: dispatch('a', 'http://b', 2) },
  ])
  assert.deepEqual(recent.find('older')!.steps.length, 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CandidateReasons, Dispatch } from '../core/decisions.ts'
import type { ExplainedRequest } from '../observe/recent-decisions.ts'
import { renderExplanation } from './render-explanation.ts'

const candidate = (endpoint: string, gpuTokens: number, waitMs: number): CandidateReasons => ({
  endpoint,
  gpuTokens,
  hostTokens: 0,
  waitMs,
  prefillMs: 120.04,
  decodeMs: 900,
  externalityMs: 3.21,
  score: waitMs + 1023.25,
})

const dispatch: Dispatch = {
  type: 'dispatch',
  requestId: 'r1',
  endpoint: 'http://b:1',
  attempt: 2,
  sessionId: null,
  promptTokens: 14_020,
  cachedTokens: 12_288,
  predictedTtftMs: 131.6,
  queueWaitMs: 40,
  reasons: {
    policy: 'warmpath',
    summary: 'cached 12,288 tokens',
    candidates: [candidate('http://b:1', 12_288, 11.5), candidate('http://a:1', 0, 2000)],
    excluded: [{ endpoint: 'http://c:1', reason: 'draining' }],
  },
}

const request: ExplainedRequest = {
  requestId: 'r1',
  arrivedAtMs: 1000,
  model: 'm',
  tenant: '',
  priorityClass: 'standard',
  promptBytes: 56_000,
  streaming: true,
  steps: [
    { atMs: 1000, what: { type: 'failed', phase: 'connect', cause: 'refused' } },
    { atMs: 1040, what: dispatch },
  ],
  end: null,
}

test('an explanation shows each step, the winner, the excluded, and predicted beside actual', () => {
  const text = renderExplanation({
    ...request,
    end: {
      endpoint: 'http://b:1',
      atMs: 2500,
      outcome: 'done',
      phase: 'stream',
      cause: 'done',
      status: 200,
      attempts: 2,
      ttftMs: 180,
      ttftSinceDispatchMs: 140.2,
      e2eMs: 1500,
      usage: { promptTokens: 14_100, outputTokens: 30, cachedTokens: null },
    },
  })
  const expected = `request r1: model m, 56,000 bytes of prompt, streaming, tenant (none)

+0 ms: the attempt failed (refused, phase connect)

+40 ms: attempt 2 to http://b:1 after 40 ms at the router, by warmpath: cached 12,288 tokens
   endpoint    gpu tokens  host tokens   wait  prefill  decode  others  score
*  http://b:1      12,288            0   11.5      120     900     3.2  1,035
   http://a:1           0            0  2,000      120     900     3.2  3,023
not http://c:1: draining

done after 1500 ms (done, phase stream)
                 predicted  actual
first token, ms        132     140
prompt tokens       14,020  14,100
cached tokens       12,288       -`
  assert.equal(text, expected)
})

test('a request that was held and refused is explained, too', () => {
  const hold = { type: 'hold', requestId: 'r1', reason: 'fleet full', deadlineMs: 61_000 } as const
  const refuse = {
    type: 'refuse',
    requestId: 'r1',
    code: 'router_overloaded',
    message: 'the fleet is full',
    retryAfterMs: 5000,
  } as const
  const text = renderExplanation({
    ...request,
    steps: [
      { atMs: 1000, what: hold },
      { atMs: 61_000, what: refuse },
    ],
  })
  assert.match(text, /\+0 ms: held at the router for at most 60000 ms: fleet full/)
  assert.match(text, /refused with router_overloaded: the fleet is full \(retry after 5 s\)/)
  assert.match(text, /It has not ended\.$/)
})

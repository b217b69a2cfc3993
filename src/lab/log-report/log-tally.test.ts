import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decisionLine,
  endpointLine,
  headerLine,
  outcomeLine,
} from '../../../test/support/decision-lines.ts'
import { printedSeed } from '../../../test/support/printed-seed.ts'
import { randomInt, seededRandom } from '../../base/random.ts'
import { DecisionLogReader } from '../../observe/read-decision-log.ts'
import type { LogFigures } from './log-figures.ts'
import { LogTally, type LogTallyOptions } from './log-tally.ts'
import { callPhases } from './logged-call.ts'

const options: LogTallyOptions = { taskGapMs: 60_000, pricePerHour: null }

function figuresOf(lines: readonly string[], changes: Partial<LogTallyOptions> = {}): LogFigures {
  const tally = new LogTally({ ...options, ...changes })
  const reader = new DecisionLogReader('log')
  for (const line of lines) {
    const record = reader.read(line)
    if (record !== null) tally.add(record)
  }
  return tally.figures([reader], ['log'])
}

/** Chain text of blocks with these hashes. */
function chainText(hashes: readonly number[], shared = 0, base: string | null = null) {
  const bytes = Buffer.alloc(hashes.length * 8)
  for (const [i, hash] of hashes.entries()) bytes.writeUInt32LE(hash, i * 8)
  return { base, shared, rest: bytes.toString('base64') }
}

test('each request counts once, by what became of it', () => {
  const { all, refusals, failures, fallbacks, lines } = figuresOf([
    headerLine(),
    decisionLine({ id: 'done' }),
    outcomeLine({ id: 'done', cachedTokens: 64 }),
    decisionLine({ id: 'held', decision: 'hold' as 'dispatch', endpoint: null, candidates: [] }),
    decisionLine({ id: 'held', queueWaitMs: 500, atMs: 500 }),
    outcomeLine({ id: 'held', ttftMs: 1_300, ttftSinceDispatchMs: 800, cachedTokens: null }),
    decisionLine({ id: 'full', decision: 'refuse', endpoint: null, code: 'queue-full', atMs: 9 }),
    decisionLine({ id: 'moved' }),
    decisionLine({ id: 'moved', attempt: 2, endpoint: 'e1' }),
    outcomeLine({ id: 'moved', attempts: 2, endpoint: 'e1' }),
    decisionLine({ id: 'lost' }),
    decisionLine({
      id: 'lost',
      attempt: 2,
      decision: 'refuse',
      endpoint: null,
      code: 'no-endpoint',
    }),
    outcomeLine({
      id: 'lost',
      outcome: 'failed',
      cause: 'reset',
      ttftMs: null,
      outputTokens: null,
    }),
    decisionLine({ id: 'gone' }),
    outcomeLine({ id: 'gone', outcome: 'client-gone', cause: 'closed', ttftMs: null }),
    decisionLine({ id: 'endless' }),
    outcomeLine({ id: 'unknown' }),
  ])
  assert.deepEqual(all.requests, {
    all: 7,
    done: 3,
    failed: 1,
    refused: 1,
    clientGone: 1,
    open: 1,
    held: 2,
    sentElsewhere: 1,
  })
  assert.deepEqual(refusals, { 'queue-full': 1 })
  assert.deepEqual(failures, { reset: 1 })
  assert.deepEqual(fallbacks, {
    'cached tokens not reported': 1,
    'sent to another endpoint': 1,
    'no end in the log': 1,
  })
  assert.equal(lines.outcomesWithoutDecision, 1)
  // 64 of 256 in one, 0 in another; the third does not say.
  assert.equal(all.cachedShare, 0.125)
  assert.equal(all.ttftMs.max, 1_300)
  assert.equal(all.tpotMs.p50, 12)
})

test('predictions are held against what was measured, of requests that were sent once', () => {
  const { endpoints, predicted } = figuresOf([
    headerLine(),
    ...[200, 400, 800].flatMap((ttftMs, i) => [
      decisionLine({ id: `r${i}`, cachedTokens: 100 }),
      outcomeLine({ id: `r${i}`, ttftMs, cachedTokens: 90 }),
    ]),
    decisionLine({ id: 'moved' }),
    decisionLine({ id: 'moved', attempt: 2 }),
    outcomeLine({ id: 'moved', attempts: 2, ttftMs: 9_000 }),
  ])
  const [{ prediction }] = endpoints as [(typeof endpoints)[number]]
  assert.equal(prediction.count, 3)
  assert.equal(prediction.ratio.p50, 1)
  assert.equal(prediction.errorMs.max, 400)
  assert.deepEqual([prediction.cachedPredicted, prediction.cachedFound], [300, 270])
  assert.equal(predicted.length, 3)
})

test('what a session sent before and no cache held was recomputed', () => {
  const session = 's'
  const { all } = figuresOf([
    headerLine(),
    decisionLine({ id: 'a', session, chain: chainText([1, 2, 3, 4]) }),
    outcomeLine({ id: 'a' }),
    decisionLine({ id: 'b', session, chain: chainText([5], 3, 'a'), promptBytes: 1_024 }),
    // 3 of 4 blocks were sent before: 192 of 256 tokens, of which 64 were cached.
    outcomeLine({ id: 'b', cachedTokens: 64 }),
    decisionLine({ id: 'c', session: 'other', chain: chainText([1, 2, 3, 4]) }),
    outcomeLine({ id: 'c' }),
  ])
  assert.equal(all.tokens.recomputed, 128)
})

test('a session is one task until it is silent for long; its time is told apart', () => {
  const call = (id: string, arrivedAtMs: number): string[] => [
    decisionLine({ id, session: 's', arrivedAtMs, atMs: arrivedAtMs + 200, queueWaitMs: 200 }),
    outcomeLine({ id, ttftMs: 1_000, ttftSinceDispatchMs: 800 }),
  ]
  const { tasks } = figuresOf([
    headerLine(),
    ...call('a', 0),
    ...call('b', 5_000),
    ...call('c', 99_000),
  ])
  assert.deepEqual([tasks.all, tasks.completed, tasks.ofSeveralCalls], [2, 2, 1])
  const [longest] = tasks.slowest
  assert.equal(longest!.taskMs, 7_000)
  assert.equal(longest!.startedAt, '2026-12-01T00:00:00.000Z')
  // Of the 800 ms before the first token a quarter was to be waiting.
  const phases = {
    held: 400,
    queue: 400,
    prefill: 1_200,
    decode: 2_000,
    tool: 3_000,
    unanswered: 0,
  }
  assert.deepEqual(longest!.phases, phases)
  assert.deepEqual(longest!.spans.slice(3, 6), [
    { kind: 'decode', from: 1_000, to: 2_000 },
    { kind: 'tool', from: 2_000, to: 5_000 },
    { kind: 'held', from: 5_000, to: 5_200 },
  ])
  assert.deepEqual(
    tasks.classes.map(({ name, count }) => [name, count]),
    [
      ['1 to 3 s', 1],
      ['3 to 10 s', 1],
    ],
  )
})

test('a router that starts anew has a clock of its own; a file that goes on has not', () => {
  const later = '2026-12-01T01:00:00.000Z'
  const { starts, time, all } = figuresOf([
    headerLine(),
    decisionLine({ id: 'a', arrivedAtMs: 1_000 }),
    headerLine({ startedAt: '2026-12-01T00:00:30.000Z', startedAtMs: 30_000 }),
    outcomeLine({ id: 'a' }),
    decisionLine({ id: 'b', arrivedAtMs: 2_000 }),
    headerLine({ startedAt: later, startedAtMs: 7 }),
    decisionLine({ id: 'c', arrivedAtMs: 7 }),
    outcomeLine({ id: 'c' }),
  ])
  assert.equal(starts, 2)
  assert.deepEqual([all.requests.done, all.requests.open], [2, 1])
  assert.deepEqual(time, {
    from: '2026-12-01T00:00:01.000Z',
    to: '2026-12-01T01:00:02.000Z',
    ms: 3_601_000,
  })
})

test('endpoints cost from when they join until they leave, per completed task', () => {
  const hour = 3_600_000
  const { cost } = figuresOf(
    [
      headerLine(),
      endpointLine('e0', 0),
      endpointLine('e1', 0),
      endpointLine('e0', 5_000),
      endpointLine('e1', hour, false),
      decisionLine({ id: 'a', session: 's', arrivedAtMs: 2 * hour - 2_000 }),
      outcomeLine({ id: 'a' }),
    ],
    { pricePerHour: 4 },
  )
  assert.deepEqual(cost, {
    pricePerHour: 4,
    endpointHours: 3,
    total: 12,
    perCompletedTask: 12,
    perMillionTokens: 12 / (357 / 1e6),
  })
})

test('prefill work is told by endpoint and time, and arrivals add up', () => {
  const lines = [headerLine()]
  for (let i = 0; i < 500; i++) {
    lines.push(decisionLine({ id: `${i}`, arrivedAtMs: i * 1_000, endpoint: `e${i % 2}` }))
    lines.push(outcomeLine({ id: `${i}`, endpoint: `e${i % 2}`, cachedTokens: 56 }))
  }
  const { timeline } = figuresOf(lines)
  assert.equal(timeline!.binMs, 4_000)
  assert.equal(sum(timeline!.arrivals), 500)
  assert.deepEqual(
    timeline!.computedTokens.map(({ name, values }) => [name, sum(values), values.length]),
    [
      ['e0', 50_000, timeline!.arrivals.length],
      ['e1', 50_000, timeline!.arrivals.length],
    ],
  )
})

test('names without end are counted, not kept', () => {
  const lines = [headerLine()]
  for (let i = 0; i < 300; i++) {
    lines.push(decisionLine({ id: `${i}`, tenant: `t${i}` }), outcomeLine({ id: `${i}` }))
  }
  const { tenants } = figuresOf(lines)
  assert.equal(tenants.length, 201)
  assert.equal(tenants[0]!.name, '(other)')
  assert.equal(tenants[0]!.requests.all, 100)
})

test('the parts of a call add up to the whole of it', (t) => {
  const random = seededRandom(printedSeed(t))
  for (let i = 0; i < 2_000; i++) {
    const [heldMs, ttft, more] = [0, 1, 2].map(() => randomInt(random, 1_000))
    const predicted = {
      waitMs: randomInt(random, 5),
      prefillMs: randomInt(random, 5),
      decodeMs: randomInt(random, 5),
    }
    const ttftMs = randomInt(random, 4) === 0 ? null : heldMs! + ttft!
    const e2eMs = heldMs! + ttft! + more!
    const phases = callPhases({
      heldMs: heldMs!,
      ttftMs,
      e2eMs,
      streaming: randomInt(random, 2) === 0,
      predicted: randomInt(random, 3) === 0 ? null : predicted,
    })
    const parts = Object.values(phases)
    assert.ok(
      parts.every((part) => part >= -1e-9),
      JSON.stringify(phases),
    )
    assert.ok(Math.abs(sum(parts) - e2eMs) < 1e-6, JSON.stringify({ e2eMs, ...phases }))
  }
})

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

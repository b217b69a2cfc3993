import assert from 'node:assert/strict'
import test from 'node:test'
import { chainOf } from '../../test/support/router-harness.ts'
import type { BlockChain } from '../core/block-chain.ts'
import { emptyChain } from '../core/block-chain.ts'
import type { Dispatch, Refuse } from '../core/decisions.ts'
import type { RequestArrived, RequestEnded } from '../core/events.ts'
import { DecisionLog, type LineSink } from './decision-log.ts'
import type { DecisionLogRecord, DecisionRecord } from './decision-record.ts'
import { DecisionLogReader } from './read-decision-log.ts'

class MemorySink implements LineSink {
  files: string[][] = [[]]
  full = false

  get fileBytes(): number {
    return this.files.at(-1)!.join('').length
  }

  write(line: string): boolean {
    if (!this.full) this.files.at(-1)!.push(line)
    return !this.full
  }

  rotate(): void {
    this.files.push([])
  }
}

function logOn(sink: LineSink, fileBytesMax = 1e9, chains = true): DecisionLog {
  const options = { policy: 'warmpath', routerVersion: '1.2.3', chains, fileBytesMax }
  const wallTime = () => '2026-12-01T00:00:00.000Z'
  return new DecisionLog(sink, { nowMs: () => 5 }, { ...options, wallTime })
}

function arrived(requestId: string, chain: BlockChain): RequestArrived {
  return {
    type: 'request-arrived',
    atMs: 10,
    requestId,
    model: 'm',
    chain,
    promptBytes: chain.length * 256 + 17,
    maxOutputTokens: 100,
    streaming: true,
    sessionKey: null,
    tenant: 't',
    priorityClass: 'standard',
    pinnedTo: null,
  }
}

function dispatched(requestId: string, sessionId: string | null, attempt = 1): Dispatch {
  const candidate = { endpoint: 'http://e0', gpuTokens: 64, hostTokens: 0, waitMs: 1 }
  const cost = { prefillMs: 2, decodeMs: 3, externalityMs: 4.123456, score: 10.5 }
  const reasons = {
    policy: 'warmpath',
    summary: 'cached 64 of 80 tokens',
    candidates: Array.from({ length: 64 }, () => ({ ...candidate, ...cost })),
    excluded: [],
  }
  return {
    type: 'dispatch',
    requestId,
    endpoint: 'http://e0',
    attempt,
    sessionId,
    promptTokens: 80,
    cachedTokens: 64,
    predictedTtftMs: 33.3333,
    queueWaitMs: 2,
    reasons,
  }
}

function readAll(lines: readonly string[]): {
  records: DecisionLogRecord[]
  reader: DecisionLogReader
} {
  const reader = new DecisionLogReader('decisions.jsonl')
  const records = lines.map((line) => reader.read(line)).filter((record) => record !== null)
  return { records, reader }
}

function decisions(records: readonly DecisionLogRecord[]): DecisionRecord[] {
  return records.filter((record): record is DecisionRecord => record.type === 'decision')
}

function assertChain(actual: BlockChain | null, expected: BlockChain): void {
  assert.ok(actual !== null)
  assert.equal(actual.length, expected.length)
  assert.deepEqual(actual.lo.slice(0, actual.length), expected.lo.slice(0, expected.length))
  assert.deepEqual(actual.hi.slice(0, actual.length), expected.hi.slice(0, expected.length))
}

test('what is written can be read: header, fleet, decision, outcome', () => {
  const sink = new MemorySink()
  const log = logOn(sink)
  const description = { kvCapacityTokens: 1_000 }
  log.endpoint({ type: 'endpoint-joined', atMs: 6, endpoint: 'http://e0', description })
  const event = arrived('r1', chainOf(1, 5))
  log.decided(12, event, dispatched('r1', 's1'))
  const usage = { promptTokens: 81, outputTokens: 7, cachedTokens: 64 }
  const ended: RequestEnded = {
    type: 'request-ended',
    atMs: 99,
    requestId: 'r1',
    outcome: 'done',
    phase: 'stream',
    cause: 'done',
    endpointFault: false,
    usage,
    answered: { chain: emptyChain, bytes: 1_400 },
  }
  const measured = { endpoint: 'http://e0', status: 200, attempts: 1, ttftMs: 30.006, e2eMs: 89 }
  log.ended(ended, { ...measured, ttftSinceDispatchMs: 28 })
  const { records, reader } = readAll(sink.files[0]!)
  assert.equal(reader.badLines, 0)
  const [header, endpoint, decision, outcome] = records
  assert.ok(header?.type === 'header' && endpoint?.type === 'endpoint')
  assert.deepEqual(endpoint.description, description)
  assert.ok(decision?.type === 'decision' && outcome?.type === 'outcome')
  assertChain(decision.chain, event.chain)
  assert.equal(decision.predictedTtftMs, 33.33)
  assert.equal(decision.candidates.length, 8, 'the best few candidates only')
  assert.equal(outcome.ttftMs, 30.01)
  assert.equal(outcome.answeredBytes, 1_400)
  assert.equal(outcome.id, decision.id)
})

test('a conversation costs its length once, and comes back whole', () => {
  const sink = new MemorySink()
  const log = logOn(sink)
  const chains: BlockChain[] = []
  for (let turn = 0; turn < 40; turn++) {
    const chain = chainOf(turn, 50, chains.at(-1))
    chains.push(chain)
    log.decided(turn, arrived(`r${turn}`, chain), dispatched(`r${turn}`, 's1'))
  }
  const { records, reader } = readAll(sink.files[0]!)
  assert.equal(reader.badLines, 0)
  for (const [i, record] of decisions(records).entries()) assertChain(record.chain, chains[i]!)
  const chainBytes = 40 * 50 * 8
  assert.ok(sink.fileBytes < chainBytes * 1.5 + 40 * 1_600, `${sink.fileBytes} bytes`)
})

test('an edited conversation is written from where it changed', () => {
  const sink = new MemorySink()
  const log = logOn(sink)
  const first = chainOf(1, 60)
  const head: BlockChain = { ...first, length: 20 }
  const second = chainOf(9, 15, head)
  log.decided(1, arrived('a', first), dispatched('a', 's'))
  log.decided(2, arrived('b', second), dispatched('b', 's'))
  const [, b] = decisions(readAll(sink.files[0]!).records)
  assertChain(b!.chain, second)
  assert.equal(JSON.parse(sink.files[0]![2]!).chain.shared, 20)
})

test('nothing builds on a line that was dropped', () => {
  const sink = new MemorySink()
  const log = logOn(sink)
  const first = chainOf(1, 30)
  log.decided(1, arrived('a', first), dispatched('a', 's'))
  const second = chainOf(2, 10, first)
  sink.full = true
  log.decided(2, arrived('b', second), dispatched('b', 's'))
  sink.full = false
  const third = chainOf(3, 10, second)
  log.decided(3, arrived('c', third), dispatched('c', 's'))
  assert.equal(log.droppedLines, 1)
  const { records, reader } = readAll(sink.files[0]!)
  assert.equal(reader.badLines, 0)
  assertChain(decisions(records)[1]!.chain, third)
})

test('each file begins with its header and its fleet, and can be read alone', () => {
  const sink = new MemorySink()
  const log = logOn(sink, 5_000)
  log.endpoint({ type: 'endpoint-joined', atMs: 1, endpoint: 'http://e0', description: {} })
  let chain = chainOf(0, 20)
  for (let turn = 1; turn < 30; turn++) {
    log.decided(turn, arrived(`r${turn}`, chain), dispatched(`r${turn}`, 's'))
    chain = chainOf(turn, 5, chain)
  }
  assert.ok(sink.files.length > 3)
  for (const lines of sink.files) {
    const { records, reader } = readAll(lines)
    assert.equal(reader.badLines, 0, reader.problems[0]?.problem)
    assert.deepEqual(
      records.slice(0, 2).map((record) => record.type),
      ['header', 'endpoint'],
    )
  }
})

test('retries and refusals are decisions too; the chain is not repeated', () => {
  const sink = new MemorySink()
  const log = logOn(sink)
  const event = arrived('r', chainOf(1, 4))
  log.decided(1, event, dispatched('r', null))
  log.decided(2, event, dispatched('r', null, 2))
  const refuse: Refuse = {
    type: 'refuse',
    requestId: 'r',
    code: 'upstream_broken',
    message: 'no',
    retryAfterMs: null,
  }
  log.decided(3, event, refuse, 3)
  const [first, second, third] = decisions(readAll(sink.files[0]!).records)
  assert.deepEqual([first!.attempt, second!.attempt, third!.attempt], [1, 2, 3])
  assert.notEqual(first!.chain, null)
  assert.deepEqual([second!.chain, third!.chain], [null, null])
  assert.equal(third!.code, 'upstream_broken')
})

test('a log without chains says so', () => {
  const sink = new MemorySink()
  logOn(sink, 1e9, false).decided(1, arrived('r', chainOf(1, 400)), dispatched('r', 's'))
  const { records } = readAll(sink.files[0]!)
  assert.ok(records[0]?.type === 'header' && !records[0].chains)
  assert.equal(decisions(records)[0]!.chain, null)
})

test('bad lines are named by file and line, and what follows is still read', () => {
  const sink = new MemorySink()
  const log = logOn(sink)
  log.decided(1, arrived('a', chainOf(1, 3)), dispatched('a', null))
  const [header, good] = sink.files[0]!
  const broken = good!.replace('"promptBytes":', '"promptBytes":"x","was":')
  const lines = [good!, header!, '{"type":"dec', '[]', broken, '{"type":"later"}', '', good!]
  const { records, reader } = readAll(lines)
  assert.equal(records.length, 2)
  assert.equal(reader.badLines, 4)
  assert.equal(reader.unknownRecords, 1)
  assert.deepEqual(
    reader.problems.map(({ file, line, problem }) => `${file}:${line}: ${problem}`),
    [
      'decisions.jsonl:1: no header line before it',
      'decisions.jsonl:3: not JSON (cut off, perhaps)',
      "decisions.jsonl:4: no 'type'",
      "decisions.jsonl:5: 'promptBytes' is not a number",
    ],
  )
})

test('a log of a newer version is refused, not misread', () => {
  const line = '{"type":"header","version":2,"startedAt":"","startedAtMs":0,"blockBytes":256}'
  assert.throws(() => new DecisionLogReader('d.jsonl').read(line), /d\.jsonl:1: .*version 2/)
})

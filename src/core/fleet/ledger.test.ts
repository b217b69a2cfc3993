import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { printedSeed } from '../../../test/support/printed-seed.ts'
import { Ledger, type Reservation, type Work } from './ledger.ts'

const work = (tokens: number, extra: Partial<Work> = {}): Work => ({
  promptTokens: tokens,
  uncachedTokens: tokens,
  prefillMs: tokens / 10,
  outputTokens: 50,
  streaming: true,
  ...extra,
})

const empty = {
  inFlight: 0,
  queued: 0,
  queuedTokens: 0,
  decoding: 0,
  decodingContextTokens: 0,
  decodingRemainingTokens: 0,
  contextTokens: 0,
}

function counts(ledger: Ledger): typeof empty {
  const { inFlight, queued, queuedTokens, decoding } = ledger
  const { decodingContextTokens, decodingRemainingTokens, contextTokens } = ledger
  return {
    inFlight,
    queued,
    queuedTokens,
    decoding,
    decodingContextTokens,
    decodingRemainingTokens,
    contextTokens,
  }
}

test('a reservation counts as queued, then as decoding, then not at all', () => {
  const ledger = new Ledger()
  const one = ledger.reserve(0, work(1_000, { uncachedTokens: 400 }))
  assert.equal(ledger.queuedTokens, 400)
  assert.equal(ledger.contextTokens, 1_000)
  ledger.firstToken(10, one)
  assert.deepEqual([ledger.queued, ledger.decoding, ledger.queuedTokens], [0, 1, 0])
  ledger.progressed(one, 20)
  assert.deepEqual([ledger.decodingContextTokens, ledger.decodingRemainingTokens], [1_020, 30])
  assert.equal(ledger.release(one), true)
  assert.equal(ledger.release(one), false)
  assert.deepEqual(counts(ledger), empty)
})

test('the backlog is the predicted prefill of what is queued, less the time that passed', () => {
  const ledger = new Ledger()
  const one = ledger.reserve(0, work(1_000))
  ledger.reserve(0, work(2_000))
  assert.equal(ledger.prefillBacklogMs(0), 300)
  assert.equal(ledger.prefillBacklogMs(60), 240)
  ledger.firstToken(80, one)
  assert.equal(ledger.prefillBacklogMs(80), 200, 'only the second is left, whatever was believed')
  assert.equal(ledger.prefillBacklogMs(1_000), 20, 'overdue work is not gone')
})

test('without streaming, the first token of a later request tells', () => {
  const ledger = new Ledger()
  ledger.reserve(0, work(1_000, { streaming: false }))
  const later = ledger.reserve(0, work(500))
  ledger.firstToken(10, later)
  assert.deepEqual([ledger.queued, ledger.decoding], [0, 2])
})

test('F141: abandoned work stays until the engine shows that it is gone, or until its bound', () => {
  const ledger = new Ledger()
  const abandoned = [ledger.reserve(0, work(100)), ledger.reserve(0, work(100))]
  const live = ledger.reserve(0, work(100))
  for (const one of abandoned) ledger.linger(one, 5_000)
  assert.equal(ledger.inFlight, 3)
  assert.equal(ledger.reconcileLingering(3), 0, 'the engine still holds all three')
  assert.equal(ledger.reconcileLingering(2), 1)
  assert.equal(ledger.inFlight, 2)
  assert.equal(ledger.expireLingering(4_999), 0)
  assert.equal(ledger.expireLingering(5_000), 1)
  assert.equal(ledger.inFlight, 1)
  ledger.release(live)
  assert.deepEqual(counts(ledger), empty)
})

test('property: no interleaving leaks a count or takes one below zero', (t) => {
  const step = fc.record({
    action: fc.constantFrom(
      'reserve',
      'first',
      'progress',
      'linger',
      'release',
      'expire',
      'engine',
    ),
    pick: fc.nat(1_000),
    tokens: fc.nat(5_000),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const ledger = new Ledger()
      const all: Reservation[] = []
      steps.forEach(({ action, pick, tokens }, atMs) => {
        const one = all[pick % Math.max(1, all.length)]
        if (action === 'reserve') {
          all.push(ledger.reserve(atMs, work(tokens, { streaming: pick % 3 > 0 })))
        } else if (action === 'expire') ledger.expireLingering(atMs)
        else if (action === 'engine') ledger.reconcileLingering(pick % 8)
        else if (one === undefined) return
        else if (action === 'first') ledger.firstToken(atMs, one)
        else if (action === 'progress') ledger.progressed(one, tokens)
        else if (action === 'linger') ledger.linger(one, atMs + (pick % 50))
        else ledger.release(one)
        const open = all.filter((reservation) => reservation.stage !== 'released')
        assert.equal(ledger.inFlight, open.length)
        assert.equal(ledger.queued, open.filter((r) => r.stage === 'queued').length)
        assert.ok(Object.values(counts(ledger)).every((count) => count >= 0))
        assert.ok(ledger.prefillBacklogMs(atMs) >= 0)
      })
      for (const one of all) ledger.release(one)
      assert.deepEqual(counts(ledger), empty)
      assert.equal(ledger.lingering, 0)
    }),
    { verbose: 1, seed: printedSeed(t) },
  )
})

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { chainOf } from '../../test/support/router-harness.ts'
import { type BlockChain, emptyChain } from '../core/block-chain.ts'
import { ChainBases } from './chain-text.ts'

const turn = fc.record({
  session: fc.constantFrom('a', 'b', null),
  /** Share of the session's last chain that the new one keeps. */
  kept: fc.double({ min: 0, max: 1, noNaN: true }),
  added: fc.nat(12),
  /** The line was lost on its way into the log. */
  dropped: fc.boolean(),
})

test('whatever conversations do and whichever lines are lost, the reader gets the chains', () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 40 }), (turns) => {
      const writer = new ChainBases()
      const reader = new ChainBases()
      const last = new Map<string | null, BlockChain>()
      for (const [i, { session, kept, added, dropped }] of turns.entries()) {
        const before = last.get(session) ?? emptyChain
        const head = { ...before, length: Math.floor(before.length * kept) }
        const chain = chainOf(i, added, head)
        last.set(session, chain)
        const text = writer.encode(session, chain)
        if (dropped) continue
        writer.remember(session, `r${i}`, chain)
        const read = reader.decode(session, text)
        reader.remember(session, `r${i}`, read)
        assert.deepEqual(read, chain)
      }
    }),
  )
})

test('a text whose base is not there, or that is damaged, is refused', () => {
  const bases = new ChainBases()
  const missing = { base: 'gone', shared: 2, rest: '' }
  assert.throws(() => bases.decode('s', missing), /builds on request gone/)
  assert.throws(() => bases.decode('s', { base: null, shared: 0, rest: 'AAAA' }), /damaged/)
  assert.throws(() => bases.decode('s', { base: null, shared: 3, rest: '' }), /damaged/)
})

test('F131: what is remembered of sessions is bounded', () => {
  const bases = new ChainBases()
  const chain = chainOf(1, 4)
  for (let i = 0; i < 20_000; i++) bases.remember(`s${i}`, `r${i}`, chain)
  assert.equal(bases.encode('s0', chain).base, null, 'the oldest is forgotten')
  assert.equal(bases.encode('s19999', chain).base, 'r19999')
})

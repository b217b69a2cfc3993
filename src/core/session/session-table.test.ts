import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chainOf } from '../../../test/support/router-harness.ts'
import type { BlockChain } from '../block-chain.ts'
import { type Session, SessionTable } from './session-table.ts'

function begin(table: SessionTable, atMs: number, chain: BlockChain, key?: string): Session {
  const session = table.arrived(atMs, chain, key ?? null, 'tenant')!
  table.began(atMs, session, chain, chain.length * 64)
  return session
}

function end(
  table: SessionTable,
  atMs: number,
  session: Session,
  chain: BlockChain,
  answered: BlockChain | null = null,
): void {
  table.ended(atMs, session, chain, answered, (answered ?? chain).length * 64)
}

test('a prompt that extends an earlier prompt and its answer continues the session', () => {
  const table = new SessionTable()
  const prompt = chainOf(1, 10)
  const answered = chainOf(2, 3, prompt)
  const session = begin(table, 0, prompt)
  end(table, 1_000, session, prompt, answered)
  const next = begin(table, 4_000, chainOf(3, 5, answered))
  assert.equal(next.id, session.id)
  assert.deepEqual([next.turns, next.gapMs, next.growthTokens], [2, 3_000, 5 * 64])
})

test('an answer that the client changed still continues the session, by its prompt', () => {
  const table = new SessionTable()
  const prompt = chainOf(1, 10)
  const session = begin(table, 0, prompt)
  end(table, 1_000, session, prompt, chainOf(2, 3, prompt))
  assert.equal(begin(table, 2_000, chainOf(9, 6, prompt)).id, session.id)
})

test('the deepest tip wins: a shared system prompt does not join two sessions', () => {
  const table = new SessionTable()
  const system = chainOf(1, 4)
  const a = chainOf(2, 6, system)
  const b = chainOf(3, 6, system)
  const first = begin(table, 0, a)
  end(table, 10, first, a)
  const second = begin(table, 20, b)
  end(table, 30, second, b)
  assert.notEqual(first.id, second.id)
  assert.equal(begin(table, 40, chainOf(4, 2, a)).id, first.id)
  assert.equal(begin(table, 40, chainOf(4, 2, b)).id, second.id)
})

test('a second continuation of a context at work is a fork, beside its parent', () => {
  const table = new SessionTable()
  const prompt = chainOf(1, 8)
  const parent = begin(table, 0, prompt)
  parent.lastEndpoint = 'http://e3'
  const child = begin(table, 5, chainOf(2, 2, prompt))
  assert.notEqual(child.id, parent.id)
  assert.equal(child.lastEndpoint, 'http://e3')
})

test('a compacted context opens a new session by content, and stays the same by key', () => {
  const table = new SessionTable()
  const long = chainOf(1, 50)
  const byContent = begin(table, 0, long)
  end(table, 1, byContent, long)
  assert.notEqual(begin(table, 2, chainOf(7, 5)).id, byContent.id)
  const byKey = begin(table, 3, long, 'k')
  end(table, 4, byKey, long)
  assert.equal(begin(table, 5, chainOf(8, 5), 'k').id, byKey.id)
})

test('F100: the same key of another tenant is another session', () => {
  const table = new SessionTable()
  const chain = chainOf(1, 2)
  const mine = table.arrived(0, chain, 'k', 'a')
  assert.notEqual(table.arrived(0, chain, 'k', 'b')?.id, mine?.id)
})

test('a prompt without a whole block has no identity of its own', () => {
  assert.equal(new SessionTable().arrived(0, chainOf(1, 0), null, 't'), null)
})

test('the table is bounded: the session idle longest is forgotten, with its tips', () => {
  const table = new SessionTable(3)
  const chains = [0, 1, 2, 3, 4].map((i) => chainOf(i, 4))
  const sessions = chains.map((chain, i) => {
    const session = begin(table, i, chain)
    end(table, i, session, chain)
    return session
  })
  assert.equal(table.size, 3)
  assert.notEqual(begin(table, 9, chainOf(9, 1, chains[0]!)).id, sessions[0]!.id)
  assert.equal(begin(table, 9, chainOf(9, 1, chains[4]!)).id, sessions[4]!.id)
})

test('two sessions that sent the same prompt: the later one continues it', () => {
  const table = new SessionTable()
  const prompt = chainOf(1, 4)
  const first = begin(table, 0, prompt)
  const second = begin(table, 1, prompt)
  end(table, 2, first, prompt)
  end(table, 3, second, prompt)
  assert.equal(begin(table, 4, chainOf(2, 1, prompt)).id, second.id)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Sender, WorkloadSession } from '../workload/session.ts'
import { Senders } from './senders.ts'
import { VirtualTime } from './virtual-time.ts'

const session = (id: string): WorkloadSession => ({
  id,
  startMs: 0,
  tenant: 't',
  priorityClass: 'standard',
  turns: [],
})

interface Sent {
  readonly name: string
  readonly atMs: number
}

/** Sends all, each turn answered after `answerMs`; a turn is named session/turn. */
function run(
  senders: readonly Sender[],
  sessions: readonly WorkloadSession[],
  answerMs: (session: string, turn: number) => number | null,
): Sent[] {
  const time = new VirtualTime()
  const sent: Sent[] = []
  const all: Senders = new Senders(senders, { name: 'w', sessions }, time, (one, turn) => {
    sent.push({ name: `${one.id}/${turn}`, atMs: time.nowMs() })
    const ms = answerMs(one.id, turn)
    if (ms === null) all.gaveUp(one)
    else time.at(time.nowMs() + ms, () => all.answered(one))
  })
  all.start()
  while (time.step()) {}
  return sent
}

const turn = (session: number, turn: number, restMs = 0) => ({ session, turn, restMs })

test('a turn that waits for its session keeps its place, and so holds up others', () => {
  const turns = [turn(0, 0), turn(1, 0), turn(0, 1), turn(1, 1), turn(0, 2), turn(1, 2)]
  const slow = (id: string): number => (id === 'a' ? 100 : 1)
  const sent = run([{ turnsAtOnce: 2, turns }], [session('a'), session('b')], slow)
  assert.deepEqual(
    sent.map(({ name, atMs }) => `${name} ${atMs}`),
    ['a/0 0', 'b/0 0', 'a/1 100', 'b/1 100', 'a/2 200', 'b/2 200'],
  )
})

test('a session rests before its next turn; one that gave up sends nothing more', () => {
  const turns = [turn(0, 0, 50), turn(1, 0), turn(0, 1), turn(1, 1)]
  const sent = run([{ turnsAtOnce: 4, turns }], [session('a'), session('b')], (id) =>
    id === 'b' ? null : 10,
  )
  assert.deepEqual(sent, [
    { name: 'a/0', atMs: 0 },
    { name: 'b/0', atMs: 0 },
    { name: 'a/1', atMs: 60 },
  ])
})

test('each turn is sent once, in the order of its session, never too many at once', () => {
  const shape = fc.record({
    sessions: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 }),
    turnsAtOnce: fc.integer({ min: 1, max: 5 }),
    seed: fc.nat(),
  })
  fc.assert(
    fc.property(shape, ({ sessions, turnsAtOnce, seed }) => {
      const turns = sessions.flatMap((count, i) =>
        Array.from({ length: count }, (_, n) => turn(i, n, (seed >> (i + n)) & 7)),
      )
      turns.sort((a, b) => a.turn - b.turn)
      const known = sessions.map((_, i) => session(`${i}`))
      const ms = (id: string, n: number): number => 1 + (((seed >> n) ^ Number(id)) & 15)
      const sent = run([{ turnsAtOnce, turns }], known, ms)
      assert.deepEqual(
        sent.map(({ name }) => name).sort(),
        turns.map((one) => `${one.session}/${one.turn}`).sort(),
      )
      for (const [i, count] of sessions.entries()) {
        const own = sent.filter(({ name }) => name.startsWith(`${i}/`)).map(({ name }) => name)
        assert.deepEqual(
          own,
          Array.from({ length: count }, (_, n) => `${i}/${n}`),
        )
      }
      for (const { atMs } of sent) {
        const open = sent.filter((one) => {
          const [id, n] = one.name.split('/') as [string, string]
          return one.atMs <= atMs && atMs < one.atMs + ms(id, Number(n))
        })
        assert.ok(open.length <= turnsAtOnce, `${open.length} at ${atMs}`)
      }
    }),
    { numRuns: 200 },
  )
})

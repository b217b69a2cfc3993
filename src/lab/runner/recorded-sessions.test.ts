import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { recordedWorkload } from './recorded-sessions.ts'

const folder = mkdtempSync(join(tmpdir(), 'warmpath-'))
after(() => rmSync(folder, { recursive: true }))

function written(name: string, lines: readonly string[]): string {
  const file = join(folder, name)
  writeFileSync(file, gzipSync(lines.join('\n')))
  return file
}

const session = (id: string, requests: number, tokens: number): string =>
  JSON.stringify({ id, pre: 100, r: new Array(requests).fill([tokens, 50, 90, 1, 1, 10]) })

test('each seed chooses among the sessions that fit, and takes them in another order', () => {
  const ids = Array.from({ length: 12 }, (_, i) => `fits-${i}`)
  const file = written('sessions.jsonl.gz', [
    session('short', 2, 1_000),
    session('long', 20, 1_000),
    session('large', 5, 9_000),
    ...ids.map((id) => session(id, 5, 1_000)),
    '',
  ])
  const sizes = 'turnsMin=3,turnsMax=10,promptTokensMax=8000'
  const text = `recorded,file=${file},sessions=6,atOnce=3,${sizes}`
  const [first, second] = [1, 2].map((seed) => recordedWorkload(text, seed))
  assert.equal(first!.sessions.length, 6)
  assert.equal(first!.sessionsAtOnce, 3)
  assert.ok(first!.sessions.every(({ id }) => ids.includes(id)))
  assert.equal(first!.sessions[0]!.turns[1]!.gapMs, 60_000)
  const order = ({ sessions }: { sessions: readonly { id: string }[] }) => sessions.map((s) => s.id)
  assert.notDeepEqual(order(first!), order(second!))
  assert.deepEqual(order(first!), order(recordedWorkload(text, 1)))
})

test('a line that is no session is named', () => {
  const file = written('bad.jsonl.gz', [session('a', 1, 1), '{"id":"b","pre":1,"r":[[1,2]]}'])
  assert.throws(() => recordedWorkload(`recorded,file=${file}`, 1), {
    name: 'RangeError',
    message: `${file}:2 is no session: id, pre, and r with six numbers for each request`,
  })
})

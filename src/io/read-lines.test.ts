import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { printedSeed } from '../../test/support/printed-seed.ts'
import { randomInt, seededRandom } from '../base/random.ts'
import { readLines } from './read-lines.ts'

function fileOf(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'warmpath-lines-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'file')
  writeFileSync(path, text)
  return path
}

test('lines of any length, with any ends, also when the last one has none', (t) => {
  const random = seededRandom(printedSeed(t))
  // Some are longer than what is read at once, and characters lie across the cut.
  const lines = Array.from({ length: 60 }, () =>
    'aé€😀'.repeat(randomInt(random, randomInt(random, 5) === 0 ? 200_000 : 20)),
  )
  lines.push('the last')
  const text = lines.map((line, i) => (i % 3 === 0 ? `${line}\r\n` : `${line}\n`)).join('')
  assert.deepEqual([...readLines(fileOf(t, text))], lines)
  assert.deepEqual([...readLines(fileOf(t, text.trimEnd()))], lines)
})

test('an empty file has no lines, an empty line is one', (t) => {
  assert.deepEqual([...readLines(fileOf(t, ''))], [])
  assert.deepEqual([...readLines(fileOf(t, '\n\na'))], ['', '', 'a'])
})

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { LineFile } from './line-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'warmpath-line-file-'))
test.after(() => rmSync(directory, { recursive: true }))

test('lines reach the file in order, behind what was there', async () => {
  const path = join(directory, 'a.jsonl')
  for (const line of ['one\n', 'two\n']) {
    const file = new LineFile({ path, queueBytesMax: 1_000, onError: assert.fail })
    assert.ok(file.write(line))
    await file.close()
  }
  assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\n')
  const file = new LineFile({ path, queueBytesMax: 1_000, onError: assert.fail })
  assert.equal(file.fileBytes, 8)
  await file.close()
})

test('F131: a queue that is full takes no more, and says so', async () => {
  const path = join(directory, 'b.jsonl')
  const file = new LineFile({ path, queueBytesMax: 1_000, onError: assert.fail })
  const line = `${'x'.repeat(99)}\n`
  const taken = Array.from({ length: 50 }, () => file.write(line)).filter((ok) => ok).length
  assert.equal(taken, 10)
  await file.close()
  assert.equal(readFileSync(path, 'utf8').length, 1_000)
})

test('rotation keeps one older file and loses nothing that was taken', async () => {
  const path = join(directory, 'c.jsonl')
  const file = new LineFile({ path, queueBytesMax: 1_000, onError: assert.fail })
  file.write('old\n')
  await new Promise((resolve) => setImmediate(resolve))
  while (!readFileSyncOr(path).includes('old')) await new Promise((r) => setImmediate(r))
  file.rotate()
  assert.equal(file.fileBytes, 0)
  file.write('new\n')
  await file.close()
  assert.equal(readFileSync(`${path}.1`, 'utf8'), 'old\n')
  assert.equal(readFileSync(path, 'utf8'), 'new\n')
})

test('a file that cannot be opened costs lines, not the process', async () => {
  const errors: Error[] = []
  const path = join(directory, 'missing', 'd.jsonl')
  const file = new LineFile({ path, queueBytesMax: 1_000, onError: (error) => errors.push(error) })
  file.write('one\n')
  await file.close()
  assert.equal(errors.length, 1)
  assert.equal(file.write('two\n'), false)
})

function readFileSyncOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

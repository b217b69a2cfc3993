import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashStart, hashStep, isName, nameAt } from './header-names.ts'

function found(name: string): string {
  const buffer = Buffer.from(`>${name}<`, 'latin1')
  let hash = hashStart
  for (const byte of Buffer.from(name, 'latin1')) hash = hashStep(hash, byte)
  return nameAt(buffer, 1, buffer.length - 1, hash)
}

test('names are found by their bytes, whatever took their place in between', () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `x-${(i * 7919) % 5_000}`)
  names.push('Content-Type', 'content-type', 'Content-type', 'x'.repeat(200))
  for (const name of [...names, ...names.toReversed(), ...names]) assert.equal(found(name), name)
})

test('a name is told whatever its case, and from all others', () => {
  for (const raw of ['date', 'Date', 'DATE', 'dAtE']) assert.ok(isName(raw, 'date'))
  for (const raw of ['dat', 'dates', 'data', 'DAT\u0065\u0000', '\u0044ATE ', 'd\u0001te', '']) {
    assert.ok(!isName(raw, 'date'), raw)
  }
  // A bracket is not a brace in lower case.
  assert.ok(!isName('x[', 'x{'))
})

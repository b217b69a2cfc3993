import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textTable } from './text-table.ts'

test('columns line up, numbers stand right, the unknown is a dash', () => {
  const table = textTable(
    ['endpoint', 'tokens', 'note'],
    [
      ['http://a:1', 1234567.5, 'warm'],
      ['http://longer:1', null, null],
    ],
  )
  assert.equal(
    table,
    [
      'endpoint              tokens  note',
      'http://a:1       1,234,567.5  warm',
      'http://longer:1            -  -',
    ].join('\n'),
  )
})

test('a table without rows is its head', () => {
  assert.equal(textTable(['a', { title: 'b', align: 'right' }], []), 'a  b')
})

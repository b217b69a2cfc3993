import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ResponseOwners } from './response-owners.ts'

describe('F088: the owner of a stored response', () => {
  test('is who stored it last', () => {
    const owners = new ResponseOwners()
    assert.equal(owners.ownerOf('a'), null)
    owners.remember('a', 'http://e0')
    owners.remember('b', 'http://e1')
    assert.equal(owners.ownerOf('a'), 'http://e0')
    owners.remember('a', 'http://e1')
    assert.equal(owners.ownerOf('a'), 'http://e1')
    assert.equal(owners.size, 2)
  })

  test('is forgotten first where nobody asked for the longest time', () => {
    const owners = new ResponseOwners(3)
    for (const id of ['a', 'b', 'c']) owners.remember(id, 'http://e0')
    owners.ownerOf('a')
    owners.remember('b', 'http://e0')
    owners.remember('d', 'http://e0')
    assert.equal(owners.ownerOf('c'), null)
    owners.remember('e', 'http://e0')
    assert.deepEqual(
      ['a', 'b', 'd', 'e'].map((id) => owners.ownerOf(id) !== null),
      [false, true, true, true],
    )
  })

  test('F131: the table stays as large as it may be, however much is stored', () => {
    const owners = new ResponseOwners()
    for (let i = 0; i < 250_000; i++) owners.remember(`resp_${i}`, 'http://e0')
    assert.equal(owners.size, 100_000)
    assert.equal(owners.ownerOf('resp_149999'), null)
    assert.equal(owners.ownerOf('resp_150000'), 'http://e0')
    for (let i = 0; i < 10; i++) owners.ownerOf(`unknown_${i}`)
    assert.equal(owners.size, 100_000)
  })
})

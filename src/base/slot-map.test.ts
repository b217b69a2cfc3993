import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SlotMap } from './slot-map.ts'

test('does what a Map does', () => {
  const step = fc.record({
    op: fc.constantFrom('set', 'delete', 'get'),
    key: fc.constantFrom(...'abcdefgh'),
    value: fc.nat(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const map = new Map<string, number>()
      const slots = new SlotMap<number>()
      for (const { op, key, value } of steps) {
        if (op === 'set') {
          map.set(key, value)
          slots.set(key, value)
        } else if (op === 'delete') {
          assert.equal(slots.delete(key), map.delete(key))
        }
        assert.equal(slots.get(key), map.get(key))
        assert.equal(slots.has(key), map.has(key))
        assert.equal(slots.size, map.size)
        assert.deepEqual(slots.values().toSorted(), [...map.values()].toSorted())
      }
    }),
  )
})

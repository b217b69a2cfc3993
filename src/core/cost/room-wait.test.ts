import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { roomWaitMs } from './room-wait.ts'

const room = { capacity: 100, inUse: 90, inUseByDecodes: 90, needed: 10 }

test('what fits does not wait', () => {
  assert.equal(roomWaitMs(room, 9, 50, 200, 10), 0)
})

test('with one request running it waits for the end of that one', () => {
  const waitMs = roomWaitMs({ ...room, needed: 20 }, 1, 50, 200, 10)
  assert.equal(waitMs, 50 * 10)
})

test('of many running the first to end is near', () => {
  const waitMs = roomWaitMs({ ...room, needed: 11 }, 9, 50, 200, 10)
  assert.equal(waitMs, ((2 * 50) / 10) * 10)
})

test('what the running cannot free passes through in whole lives', () => {
  // 100 tokens of room, 300 claimed by requests that do not decode yet.
  const queued = { capacity: 100, inUse: 300, inUseByDecodes: 0, needed: 10 }
  assert.equal(roomWaitMs(queued, 0, 0, 200, 10), (200 * 10 * 210) / 100)
})

test('a request larger than the memory waits for all of it, not for ever', () => {
  const waitMs = roomWaitMs({ ...room, needed: 1e9 }, 9, 50, 200, 10)
  assert.equal(waitMs, roomWaitMs({ ...room, needed: 100 }, 9, 50, 200, 10))
})

test('needing more or finding more in use never shortens the wait', () => {
  fc.assert(
    fc.property(
      fc.record({
        inUse: fc.double({ min: 0, max: 1e3, noNaN: true }),
        decodeShare: fc.double({ min: 0, max: 1, noNaN: true }),
        needed: fc.double({ min: 0, max: 300, noNaN: true }),
        decodes: fc.integer({ min: 0, max: 50 }),
        remaining: fc.double({ min: 1, max: 500, noNaN: true }),
        more: fc.double({ min: 0, max: 200, noNaN: true }),
      }),
      ({ inUse, decodeShare, needed, decodes, remaining, more }) => {
        const inUseByDecodes = decodes === 0 ? 0 : inUse * decodeShare
        const base = { capacity: 100, inUse, inUseByDecodes, needed }
        const wait = (changed: Partial<typeof base>): number =>
          roomWaitMs({ ...base, ...changed }, decodes, remaining, 100, 10)
        assert.ok(wait({ needed: needed + more }) >= wait({}) - 1e-9)
        assert.ok(wait({ inUse: inUse + more }) >= wait({}) - 1e-9)
        assert.ok(Number.isFinite(wait({})))
      },
    ),
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realTimeScheduler } from './real-time.ts'

test('a callback runs at its time or later, in the order of the times', async () => {
  const scheduler = realTimeScheduler()
  const start = scheduler.nowMs()
  const ran: number[] = []
  await new Promise<void>((resolve) => {
    scheduler.at(start + 12, () => {
      ran.push(12)
      assert.ok(scheduler.nowMs() >= start + 12)
      resolve()
    })
    scheduler.at(start + 4, () => {
      ran.push(4)
      assert.ok(scheduler.nowMs() >= start + 4)
    })
  })
  assert.deepEqual(ran, [4, 12])
})

test('a time in the past is served soon, but never synchronously', async () => {
  const scheduler = realTimeScheduler()
  let ran = false
  const done = new Promise<void>((resolve) => {
    scheduler.at(scheduler.nowMs() - 100, () => {
      ran = true
      resolve()
    })
  })
  assert.equal(ran, false)
  await done
  assert.equal(ran, true)
})

test('a cancelled callback does not run, be it due or in the future', async () => {
  const scheduler = realTimeScheduler()
  const ran: string[] = []
  scheduler.at(scheduler.nowMs() - 1, () => ran.push('due'))()
  scheduler.at(scheduler.nowMs() + 2, () => ran.push('future'))()
  await new Promise<void>((resolve) => scheduler.at(scheduler.nowMs() + 10, resolve))
  assert.deepEqual(ran, [])
})

test('a time scale makes the clock run faster, and the callbacks with it', async () => {
  const fast = realTimeScheduler(1000)
  const real = realTimeScheduler()
  const fastStart = fast.nowMs()
  const realStart = real.nowMs()
  await new Promise<void>((resolve) => fast.at(fastStart + 20_000, resolve))
  assert.ok(fast.nowMs() - fastStart >= 20_000)
  // Twenty seconds of its time are twenty milliseconds; a loaded machine may take a while longer.
  assert.ok(real.nowMs() - realStart < 10_000)
})

test('a time scale of zero or less is refused', () => {
  assert.throws(() => realTimeScheduler(0), RangeError)
})

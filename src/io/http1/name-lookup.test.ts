/** Host names of engines: looked up seldom, and followed soon when they point elsewhere. */
import assert from 'node:assert/strict'
import type { LookupFunction } from 'node:net'
import { test } from 'node:test'
import { ManualScheduler } from '../../../test/support/manual-scheduler.ts'
import { RecordedCall } from '../../../test/support/recorded-call.ts'
import { ScriptedServer } from '../../../test/support/scripted-server.ts'
import { UpstreamPool } from './upstream-pool.ts'

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const told = ['connected', 'headers', 'body', 'end']

/** A resolver that says what the test wants. */
function resolver() {
  const state = { address: '127.0.0.1', asked: 0, fails: false }
  const lookup: LookupFunction = (_host, options, answer) => {
    state.asked++
    const { address, fails } = state
    setImmediate(() => {
      if (fails) answer(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), '', 4)
      else if (options.all === true) answer(null, [{ address, family: 4 }])
      else answer(null, address, 4)
    })
  }
  return { state, lookup }
}

test('connections at once share one look-up; a second later the name is looked up again', async (t) => {
  const server = await ScriptedServer.start((connection) => connection.answer(ok))
  t.after(() => server.stop())
  const { state, lookup } = resolver()
  const clock = new ManualScheduler()
  const { port } = new URL(server.origin)
  const pool = new UpstreamPool(`http://engine.test:${port}`, { lookup, idleSocketMs: 0 }, clock)
  t.after(() => pool.close())
  const calls = Array.from({ length: 20 }, () => new RecordedCall(pool))
  for (const call of calls) assert.deepEqual((await call.over()).told, told)
  assert.equal(server.connections.length, 20)
  assert.equal(state.asked, 1)
  assert.deepEqual((await new RecordedCall(pool).over()).told, told)
  assert.equal(state.asked, 1)
  clock.advance(1_000)
  assert.deepEqual((await new RecordedCall(pool).over()).told, told)
  assert.equal(state.asked, 2)
})

test('an address that takes no connection is not used again, nor is a failed answer', async (t) => {
  const server = await ScriptedServer.start((connection) => connection.answer(ok))
  t.after(() => server.stop())
  const { state, lookup } = resolver()
  const { port } = new URL(server.origin)
  const clock = new ManualScheduler()
  const pool = new UpstreamPool(`http://engine.test:${port}`, { lookup }, clock)
  t.after(() => pool.close())
  // Nobody listens on that address; then the engine comes back on another.
  state.address = '127.0.0.2'
  assert.equal((await new RecordedCall(pool).over()).failure!.cause, 'refused')
  state.fails = true
  assert.equal((await new RecordedCall(pool).over()).failure!.cause, 'dns')
  state.fails = false
  state.address = '127.0.0.1'
  assert.deepEqual((await new RecordedCall(pool).over()).told, told)
  assert.equal(state.asked, 3)
})

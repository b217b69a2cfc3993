import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { ManualScheduler } from '../../../test/support/manual-scheduler.ts'
import { RecordedCall } from '../../../test/support/recorded-call.ts'
import type { ScriptedConnection } from '../../../test/support/scripted-server.ts'
import { upstreamStage } from '../../../test/support/upstream-stage.ts'
import { UpstreamPool } from './upstream-pool.ts'

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

async function alwaysOk(connection: ScriptedConnection): Promise<void> {
  for (;;) await connection.answer(ok)
}

const post = { method: 'POST', body: [Buffer.from('{"prompt":'), Buffer.from('"x"}')] }

test('serves one request after another on the same socket', async (t) => {
  const { pool, server } = await upstreamStage(t, alwaysOk)
  for (const first of ['connected', 'reused', 'reused']) {
    const call = await new RecordedCall(pool, post).over()
    assert.deepEqual(call.told, [first, 'headers', 'body', 'end'])
  }
  assert.equal(server.connections.length, 1)
  assert.equal(pool.stats.reused, 2)
})

test('opens as many sockets as it needs at once, and takes the warmest again', async (t) => {
  const { pool, server, clock } = await upstreamStage(t, alwaysOk)
  await Promise.all([1, 2, 3].map(() => new RecordedCall(pool).over()))
  assert.deepEqual([pool.stats.open, pool.stats.idle], [3, 3])
  for (let i = 0; i < 5; i++) {
    clock.advance(1_000)
    await new RecordedCall(pool).over()
  }
  assert.equal(pool.stats.idle, 1, 'the two that nobody took were closed when their time was up')
  assert.equal(server.connections.length, 3)
})

for (const restMs of [3_990, 4_000, 4_900, 5_000, 5_100]) {
  test(`F024: after ${restMs} ms of rest, no socket that uvicorn closes at 5 s`, async (t) => {
    const { pool, server, clock } = await upstreamStage(t, alwaysOk)
    await new RecordedCall(pool, post).over()
    clock.advance(restMs)
    const call = await new RecordedCall(pool, post).over()
    assert.equal(call.text, 'ok')
    assert.equal(server.connections.length, restMs < 4_000 ? 1 : 2)
    assert.equal(pool.stats.resent, 0)
  })
}

test('F024: a socket past its rest is not taken, even when the timer is late', async (t) => {
  const late = new (class extends ManualScheduler {
    override at(): () => void {
      return () => {}
    }
  })()
  const { server } = await upstreamStage(t, alwaysOk)
  const pool = new UpstreamPool(server.origin, {}, late)
  t.after(() => pool.close())
  await new RecordedCall(pool).over()
  late.advance(4_500)
  const call = await new RecordedCall(pool).over()
  assert.deepEqual(call.told, ['connected', 'headers', 'body', 'end'])
})

test('resting sockets are closed by the timer, and the timer then sleeps', async (t) => {
  const { pool, server, clock } = await upstreamStage(t, alwaysOk)
  await new RecordedCall(pool).over()
  clock.advance(4_050)
  assert.equal(pool.stats.idle, 0)
  await server.connections[0]!.closed()
  assert.equal(clock.pending, 0)
})

for (const way of ['closes', 'resets'] as const) {
  test(`F024: resends once when the server ${way} a reused socket on the request`, async (t) => {
    const { pool, server } = await upstreamStage(t, async (connection) => {
      await connection.answer(ok)
      await connection.request()
      if (connection.number > 0) connection.socket.write(ok)
      else if (way === 'closes') connection.socket.destroy()
      else connection.socket.resetAndDestroy()
    })
    await new RecordedCall(pool, post).over()
    const call = await new RecordedCall(pool, post).over()
    assert.deepEqual(call.told, ['reused', 'connected', 'headers', 'body', 'end'])
    assert.equal(server.connections.length, 2)
    assert.equal(pool.stats.resent, 1)
  })
}

test('F024: what must not run twice goes out on a kept socket only while that is young', async (t) => {
  const { pool, server, clock } = await upstreamStage(t, alwaysOk)
  const once = { ...post, once: true }
  await new RecordedCall(pool, once).over()
  clock.advance(900)
  const second = await new RecordedCall(pool, once).over()
  assert.deepEqual(second.told, ['reused', 'headers', 'body', 'end'])
  clock.advance(1_100)
  const third = await new RecordedCall(pool, once).over()
  assert.deepEqual(third.told, ['connected', 'headers', 'body', 'end'])
  assert.equal(server.connections.length, 2)
  assert.equal(pool.stats.idle, 2)
})

test('F024: what must not run twice is not resent where a kept socket died', async (t) => {
  const { pool, server } = await upstreamStage(t, async (connection) => {
    await connection.answer(ok)
    await connection.request()
    connection.socket.resetAndDestroy()
  })
  await new RecordedCall(pool, post).over()
  const call = await new RecordedCall(pool, { ...post, once: true }).over()
  assert.deepEqual(call.told, ['reused', 'error'])
  assert.equal(server.connections.length, 1)
  assert.equal(pool.stats.resent, 0)
})

test('F024: a fresh socket that dies is not resent', async (t) => {
  const { pool, server } = await upstreamStage(t, async (connection) => {
    await connection.request()
    connection.socket.resetAndDestroy()
  })
  const call = await new RecordedCall(pool, post).over()
  assert.deepEqual(call.told, ['connected', 'error'])
  assert.equal(call.failure!.reusedSocketDied, false)
  assert.equal(server.connections.length, 1)
})

test('F024: nothing is resent once a byte of the answer came', async (t) => {
  const { pool, server } = await upstreamStage(t, async (connection) => {
    await connection.answer(ok)
    await connection.answer('H')
    connection.socket.end()
  })
  await new RecordedCall(pool, post).over()
  const call = await new RecordedCall(pool, post).over()
  const { reusedSocket, reusedSocketDied, responseBytes, phase } = call.failure!
  assert.deepEqual(
    { reusedSocket, reusedSocketDied, responseBytes, phase },
    { reusedSocket: true, reusedSocketDied: false, responseBytes: true, phase: 'headers' },
  )
  assert.equal(server.connections.length, 1)
})

test('F024: nothing is resent when the server worked on it for long before it died', async (t) => {
  const { pool, server, clock } = await upstreamStage(t, async (connection) => {
    await connection.answer(ok)
  })
  await new RecordedCall(pool, post).over()
  const call = new RecordedCall(pool, post)
  await server.connections[0]!.request()
  clock.advance(1_500)
  server.connections[0]!.socket.resetAndDestroy()
  await call.over()
  assert.equal(call.failure!.cause, 'reset')
  assert.equal(call.failure!.reusedSocketDied, false)
})

test('F024: a streamed body already begun is reported, not resent', async (t) => {
  const { pool, server } = await upstreamStage(t, async (connection) => {
    await connection.answer(ok)
  })
  await new RecordedCall(pool, post).over()
  const call = new RecordedCall(pool, { method: 'POST', body: { streamedLength: 100 } })
  await call.seen('drain')
  call.call.write(Buffer.from('part'))
  await once(server.connections[0]!.socket, 'data')
  server.connections[0]!.socket.resetAndDestroy()
  await call.over()
  assert.equal(call.failure!.reusedSocketDied, true)
  assert.equal(server.connections.length, 1)
})

test('F024: a resend that cannot connect still says that nothing was processed', async (t) => {
  const { pool, server } = await upstreamStage(t, async (connection) => {
    await connection.answer(ok)
  })
  await new RecordedCall(pool, post).over()
  const call = new RecordedCall(pool, post)
  const { socket } = server.connections[0]!
  await server.connections[0]!.request()
  const stopped = server.stop()
  socket.resetAndDestroy()
  await stopped.catch(() => {})
  await call.over()
  const { cause, phase, reusedSocketDied, bytesSent } = call.failure!
  assert.deepEqual({ cause, phase }, { cause: 'refused', phase: 'connect' })
  assert.deepEqual({ reusedSocketDied, bytesSent }, { reusedSocketDied: true, bytesSent: true })
})

test('honours Keep-Alive: timeout, in both directions', async (t) => {
  const hint = (seconds: number): string =>
    `HTTP/1.1 200 OK\r\nKeep-Alive: timeout=${seconds}\r\nContent-Length: 0\r\n\r\n`
  const cases = [
    { seconds: 1, restMs: 0, reused: false },
    { seconds: 3, restMs: 1_900, reused: true },
    { seconds: 3, restMs: 2_100, reused: false },
    { seconds: 20, restMs: 18_000, reused: true },
    { seconds: 86_400, restMs: 61_000, reused: false },
  ]
  for (const { seconds, restMs, reused } of cases) {
    const { pool, clock } = await upstreamStage(t, async (connection) => {
      for (;;) await connection.answer(hint(seconds))
    })
    await new RecordedCall(pool).over()
    clock.advance(restMs)
    const call = await new RecordedCall(pool).over()
    assert.equal(call.told[0], reused ? 'reused' : 'connected', `${seconds} s, ${restMs} ms`)
  }
})

const unfit: Record<string, string> = {
  'Connection: close': 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.0': 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'bytes behind the answer': `${ok}HTTP/1.1 200 OK\r\n`,
}

for (const [name, answer] of Object.entries(unfit)) {
  test(`closes the socket after ${name}`, async (t) => {
    const { pool, server } = await upstreamStage(t, async (connection) => {
      await connection.answer(answer)
    })
    const call = await new RecordedCall(pool).over()
    assert.equal(call.text, 'ok')
    assert.equal(pool.stats.idle, 0)
    await server.connections[0]!.closed()
  })
}

test('keeps a socket of HTTP/1.0 with keep-alive', async (t) => {
  const { pool } = await upstreamStage(t, async (connection) => {
    const head = 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok'
    for (;;) await connection.answer(head)
  })
  await new RecordedCall(pool).over()
  assert.equal((await new RecordedCall(pool).over()).told[0], 'reused')
})

test('drops a resting socket that the server closes or speaks on', async (t) => {
  const { pool, server } = await upstreamStage(t, alwaysOk)
  await Promise.all([1, 2].map(() => new RecordedCall(pool).over()))
  server.connections[0]!.socket.end()
  server.connections[1]!.socket.write('HTTP/1.1 408 Request Timeout\r\n\r\n')
  await Promise.all(server.connections.map((connection) => connection.closed()))
  assert.deepEqual([pool.stats.idle, pool.stats.closedByServerWhileIdle], [0, 2])
  assert.equal((await new RecordedCall(pool).over()).told[0], 'connected')
})

test('sees the close of a resting socket whose last answer was paused', async (t) => {
  const { pool, server } = await upstreamStage(t, alwaysOk)
  const call = new (class extends RecordedCall {
    protected override tell(what: string): void {
      super.tell(what)
      if (what === 'headers') this.call.pause()
    }
  })(pool)
  await call.over()
  assert.deepEqual([call.text, pool.stats.idle], ['ok', 1])
  server.connections[0]!.socket.end()
  await server.connections[0]!.closed()
  assert.equal(pool.stats.idle, 0)
})

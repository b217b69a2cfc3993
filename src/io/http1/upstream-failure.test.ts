import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ManualScheduler } from '../../../test/support/manual-scheduler.ts'
import { RecordedCall } from '../../../test/support/recorded-call.ts'
import { upstreamStage } from '../../../test/support/upstream-stage.ts'
import type { UpstreamFailure, UpstreamRequest } from './upstream.ts'
import { UpstreamPool } from './upstream-pool.ts'

const head = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n'
const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

const summary = ({ phase, cause, bytesSent, responseBytes }: UpstreamFailure): string =>
  `${phase} ${cause}${bytesSent ? ' sent' : ''}${responseBytes ? ' answered' : ''}`

/** What the server sends, how it then goes, and what the caller is told. */
const broken: readonly [name: string, sent: string, way: 'FIN' | 'RST', told: string][] = [
  ['nothing', '', 'FIN', 'sent closed sent'],
  ['nothing', '', 'RST', 'sent reset sent'],
  ['half a head', 'HTTP/1.1 200 OK\r\nA:', 'FIN', 'headers closed sent answered'],
  ['half a head', 'HTTP/1.1 200 OK\r\nA:', 'RST', 'headers reset sent answered'],
  ['an interim answer', 'HTTP/1.1 100 Go\r\n\r\n', 'FIN', 'headers closed sent answered'],
  ['half a body', `${head}12345`, 'FIN', 'body closed sent answered'],
  ['half a body', `${head}12345`, 'RST', 'body reset sent answered'],
  ['whole chunks, not the last', `${chunkedHead}1\r\na\r\n`, 'FIN', 'body closed sent answered'],
  ['half a trailer', `${chunkedHead}0\r\nA:`, 'FIN', 'body closed sent answered'],
  ['a bad chunk', `${chunkedHead}1\r\na\r\nz\r\n`, 'FIN', 'body bad-response sent answered'],
  ['no HTTP', 'SSH-2.0-OpenSSH\r\n', 'FIN', 'headers bad-response sent answered'],
]

for (const [name, sent, way, told] of broken) {
  test(`reports ${name}, then ${way}`, async (t) => {
    const { pool } = await upstreamStage(t, async (connection) => {
      await connection.request()
      if (sent !== '') connection.socket.write(sent)
      if (way === 'FIN') connection.socket.end()
      else connection.socket.resetAndDestroy()
    })
    const call = new RecordedCall(pool, { method: 'POST', body: [Buffer.from('x')] })
    await call.over()
    assert.equal(summary(call.failure!), told)
    assert.equal(call.told.at(-1), 'error')
    assert.equal(pool.stats.idle, 0)
  })
}

test('a body without length that ends in RST is an error, in FIN the end', async (t) => {
  const { pool, server } = await upstreamStage(t, async (connection) => {
    await connection.answer('HTTP/1.1 200 OK\r\n\r\npart')
    if (connection.number === 0) connection.socket.end()
  })
  const whole = await new RecordedCall(pool).over()
  assert.deepEqual([whole.text, whole.told.at(-1)], ['part', 'end'])
  const cut = await new RecordedCall(pool).seen('body')
  server.connections[1]!.socket.resetAndDestroy()
  await cut.over()
  assert.equal(summary(cut.failure!), 'body reset sent answered')
})

async function portWithoutListener(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function failureAt(t: TestContext, origin: string): Promise<UpstreamFailure> {
  const pool = new UpstreamPool(origin, {}, new ManualScheduler())
  t.after(() => pool.close())
  const call = await new RecordedCall(pool).over()
  assert.deepEqual(call.told, ['error'])
  return call.failure!
}

test('reports a port that nobody listens on', async (t) => {
  const failure = await failureAt(t, `http://127.0.0.1:${await portWithoutListener()}`)
  assert.equal(summary(failure), 'connect refused')
  assert.match(failure.detail, /ECONNREFUSED/)
})

test('reports a name that does not resolve', async (t) => {
  assert.equal(summary(await failureAt(t, 'http://engine.invalid:8000')), 'connect dns')
})

test('reports a connection that is not made in time', async (t) => {
  const { pool, clock } = await upstreamStage(t, () => {}, { connectTimeoutMs: 700 })
  const call = new RecordedCall(pool)
  clock.advance(699)
  assert.deepEqual(call.told, [])
  clock.advance(1)
  assert.deepEqual(call.told, ['error'])
  assert.equal(summary(call.failure!), 'connect connect-timeout')
})

test('reports a server that takes TLS for something else', async (t) => {
  const { server } = await upstreamStage(t, (connection) => {
    connection.socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  })
  assert.equal(summary(await failureAt(t, `https://127.0.0.1:${server.port}`)), 'connect tls')
})

test('has a bound on connections, and says so', async (t) => {
  const { pool } = await upstreamStage(t, () => {}, { connectionsMax: 2 })
  const calls = [1, 2, 3].map(() => new RecordedCall(pool))
  await calls[2]!.over()
  assert.equal(summary(calls[2]!.failure!), 'connect too-many-connections')
})

test('fails what runs when the pool is closed, and what comes after', async (t) => {
  const { pool } = await upstreamStage(t, () => {})
  const running = await new RecordedCall(pool).seen('connected')
  pool.close()
  assert.equal(summary(running.failure!), 'sent pool-closed sent')
  const late = await new RecordedCall(pool).over()
  assert.equal(summary(late.failure!), 'connect pool-closed')
})

test('gives up on a head that does not come, but not while it may still come', async (t) => {
  const { pool, clock } = await upstreamStage(t, async (connection) => {
    await connection.answer('HTTP/1.1 102 Processing\r\n\r\n')
  })
  const call = await new RecordedCall(pool, { firstByteTimeoutMs: 1_000 }).seen('connected')
  clock.advance(900)
  call.call.setTimeouts(3_000, null)
  clock.advance(2_000)
  assert.equal(call.failure, null)
  clock.advance(100)
  assert.equal(call.failure!.cause, 'first-byte-timeout')
})

test('does not hurry an upload that goes on', async (t) => {
  const { pool, clock } = await upstreamStage(t, () => {})
  const body = { streamedLength: null }
  const request = { method: 'POST', body, firstByteTimeoutMs: 1_000 }
  const call = await new RecordedCall(pool, request).seen('drain')
  for (let i = 0; i < 5; i++) {
    clock.advance(900)
    call.call.write(Buffer.from('x'))
  }
  assert.equal(call.failure, null)
  clock.advance(1_000)
  assert.equal(summary(call.failure!), 'sent first-byte-timeout sent')
})

test('gives up on a silent body, but not on a slow or a paused one', async (t) => {
  const { pool, server, clock } = await upstreamStage(t, async (connection) => {
    await connection.answer(chunkedHead)
  })
  const call = await new RecordedCall(pool, { idleTimeoutMs: 500 }).seen('headers')
  for (const byte of 'slow') {
    clock.advance(400)
    const before = call.text.length
    server.connections[0]!.socket.write(`1\r\n${byte}\r\n`)
    while (call.text.length === before) await new Promise(setImmediate)
  }
  call.call.pause()
  clock.advance(60_000)
  call.call.resume()
  clock.advance(499)
  assert.deepEqual([call.text, call.failure], ['slow', null])
  clock.advance(1)
  assert.equal(summary(call.failure!), 'body idle-timeout sent answered')
  await server.connections[0]!.closed()
})

const stages: readonly [name: string, answer: string, last: string][] = [
  ['connected', '', 'connected'],
  ['the head', head, 'headers'],
  ['part of the body', `${head}123`, 'body'],
]

for (const [name, answer, last] of stages) {
  test(`abort after ${name} closes the socket and is the last word`, async (t) => {
    const { pool, server } = await upstreamStage(t, async (connection) => {
      await connection.request()
      if (answer !== '') connection.socket.write(answer)
    })
    const call = await new RecordedCall(pool).seen(last)
    call.call.abort()
    call.call.abort()
    assert.equal(pool.stats.idle, 0)
    while (server.connections.length === 0) await new Promise(setImmediate)
    await server.connections[0]!.closed()
    assert.equal(call.told.at(-1), last)
  })
}

test('abort before the connection is made sends nothing', async (t) => {
  const { pool, server } = await upstreamStage(t, () => {})
  const call = new RecordedCall(pool)
  call.call.abort()
  await new RecordedCall(pool, { path: '/second' }).seen('connected')
  const received = (): string[] => server.connections.map((connection) => connection.received)
  while (!received().some((text) => text !== '')) await new Promise(setImmediate)
  assert.deepEqual(call.told, [])
  assert.deepEqual(
    received().filter((text) => text !== '' && !text.startsWith('GET /second ')),
    [],
  )
})

test('abort from within a callback stops the rest of the same read', async (t) => {
  const chunks = `${chunkedHead}1\r\na\r\n0\r\n\r\n`
  const bodyless = 'HTTP/1.1 204 No Content\r\n\r\n'
  for (const [last, answer] of [
    ['headers', chunks],
    ['headers', bodyless],
    ['body', chunks],
    ['body', `${head}0123456789`],
  ] as const) {
    const { pool } = await upstreamStage(t, (connection) => connection.answer(answer))
    const call = new (class extends RecordedCall {
      protected override tell(what: string): void {
        super.tell(what)
        if (what === last) this.call.abort()
      }
    })(pool)
    await call.seen(last)
    while (pool.stats.open > 0) await new Promise(setImmediate)
    assert.equal(call.told.at(-1), last)
  }
})

const unwritable: Record<string, Partial<UpstreamRequest>> = {
  'CR LF in a value': { headers: ['A', 'b\r\nC: d'] },
  'a character that latin1 would cut to LF': { headers: ['A', 'b\u010aC: d'] },
  'NUL in a value': { headers: ['A', '\0'] },
  'a blank in a name': { headers: ['A b', 'c'] },
  'a name without a value': { headers: ['A'] },
  'a blank in the path': { path: '/a b' },
  'LF in the path': { path: '/a\nHost: x' },
  'an empty path': { path: '' },
  'a blank in the method': { method: 'GET /x' },
  CONNECT: { method: 'CONNECT' },
  "a length that is not the body's": { method: 'POST', headers: ['Content-Length', '7'] },
  'two lengths': { headers: ['Content-Length', '0', 'content-length', '0'] },
  'two hosts': { headers: ['Host', 'a', 'host', 'b'] },
  'framing of its own': { headers: ['Transfer-Encoding', 'chunked'] },
  'a Connection header': { headers: ['Connection', 'close'] },
  'LF in the upgrade': { upgrade: 'a\nb' },
}

test('refuses to write what would not be one request', async (t) => {
  const { pool, server } = await upstreamStage(t, () => {})
  for (const [name, request] of Object.entries(unwritable)) {
    const call = await new RecordedCall(pool, request).over()
    assert.equal(summary(call.failure!), 'connect bad-request', name)
  }
  assert.equal(server.connections.length, 0)
})

test('refuses an origin that is more than an origin', () => {
  for (const origin of ['ftp://a', 'http://a/b', 'http://a?b', 'http://u:p@a', 'gpu1:8000']) {
    assert.throws(() => new UpstreamPool(origin, {}, new ManualScheduler()), TypeError, origin)
  }
})

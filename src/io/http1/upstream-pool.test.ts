import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordedCall } from '../../../test/support/recorded-call.ts'
import { upstreamStage } from '../../../test/support/upstream-stage.ts'
import { UpstreamPool } from './upstream-pool.ts'

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('writes the request as it was given, with Host and Content-Length', async (t) => {
  const { pool, server } = await upstreamStage(t, () => {})
  const headers = ['Content-Type', 'text/plain', 'x-A', '\xe9', 'x-A', '']
  const body = [Buffer.from('ab'), Buffer.alloc(0), Buffer.from('c')]
  new RecordedCall(pool, { method: 'POST', path: '/v1/x?y=%20', headers, body })
  while (server.connections.length === 0) await turn()
  assert.equal(
    await server.connections[0]!.request(),
    'POST /v1/x?y=%20 HTTP/1.1\r\nContent-Type: text/plain\r\nx-A: \xe9\r\nx-A: \r\n' +
      `Host: 127.0.0.1:${server.port}\r\nContent-Length: 3\r\n\r\nabc`,
  )
})

test('finds the address of a name that listens', async (t) => {
  const { server, clock } = await upstreamStage(t, (connection) => connection.answer(ok))
  // `localhost` often stands for ::1 as well, where this server does not listen.
  const pool = new UpstreamPool(`http://localhost:${server.port}`, {}, clock)
  t.after(() => pool.close())
  assert.equal((await new RecordedCall(pool).over()).text, 'ok')
})

test('keeps a Host and a Content-Length that were given, and adds none for GET', async (t) => {
  const requests: string[] = []
  const { pool, server } = await upstreamStage(t, async (connection) => {
    for (;;) {
      requests.push(await connection.request())
      connection.socket.write(ok)
    }
  })
  await new RecordedCall(pool, { headers: ['host', 'a', 'content-length', '0'] }).over()
  await new RecordedCall(pool).over()
  await new RecordedCall(pool, { method: 'POST' }).over()
  const host = `Host: 127.0.0.1:${server.port}\r\n`
  assert.deepEqual(requests, [
    'GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n',
    `GET / HTTP/1.1\r\n${host}\r\n`,
    `POST / HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`,
  ])
})

test('sends a body of megabytes in pieces, whole', async (t) => {
  let request = ''
  const { pool } = await upstreamStage(t, async (connection) => {
    request = await connection.request()
    connection.socket.write(ok)
  })
  const pieces = Array.from({ length: 40 }, (_, i) => Buffer.alloc(100_000, 97 + (i % 26)))
  const call = new RecordedCall(pool, { method: 'POST', body: pieces })
  await call.over()
  assert.ok(request.endsWith(`\r\n\r\n${Buffer.concat(pieces).toString('latin1')}`))
  assert.equal(pool.stats.idle, 1)
})

test('gives an interim answer no attention, and the trailers to the caller', async (t) => {
  const { pool } = await upstreamStage(t, (connection) =>
    connection.answer(
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${chunkedHead}` +
        '3\r\nabc\r\n0\r\nX-Checksum: 9\r\n\r\n',
    ),
  )
  const call = await new RecordedCall(pool).over()
  assert.deepEqual(call.told, ['connected', 'headers', 'body', 'end'])
  assert.deepEqual(call.flat, ['Transfer-Encoding', 'chunked'])
  assert.deepEqual(call.raws, ['3\r\nabc\r\n'])
  assert.deepEqual(call.trailers, ['X-Checksum', '9'])
  assert.equal(pool.stats.idle, 1)
})

test('takes an answer that comes byte by byte', async (t) => {
  const { pool } = await upstreamStage(t, async (connection) => {
    await connection.request()
    for (const byte of `${chunkedHead}5;x\r\nhello\r\n0\r\nA: b\r\n\r\n`) {
      connection.socket.write(byte)
      await turn()
    }
  })
  const call = await new RecordedCall(pool).over()
  assert.deepEqual([call.text, call.trailers], ['hello', ['A', 'b']])
})

test('takes headers up to the limit and refuses more', async (t) => {
  for (const [length, status] of [
    [60_000, 200],
    [66_000, 0],
  ] as const) {
    const { pool } = await upstreamStage(t, (connection) =>
      connection.answer(`HTTP/1.1 200 OK\r\nA: ${'x'.repeat(length)}\r\nContent-Length: 0\r\n\r\n`),
    )
    const call = await new RecordedCall(pool).over()
    assert.equal(call.status, status)
    assert.equal(call.failure?.cause, status === 0 ? 'bad-response' : undefined)
  }
})

test('answers to HEAD, 204 and 304 have no body and keep the socket', async (t) => {
  const answers = [
    'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n',
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n',
  ]
  const { pool, server } = await upstreamStage(t, async (connection) => {
    for (const answer of answers) await connection.answer(answer)
  })
  for (const method of ['HEAD', 'GET', 'GET']) {
    const call = await new RecordedCall(pool, { method }).over()
    assert.deepEqual(call.told.slice(1), ['headers', 'end'])
  }
  assert.equal(server.connections.length, 1)
})

test('pause stops reading, so that the server feels it', async (t) => {
  const { pool, server } = await upstreamStage(t, (connection) => connection.answer(chunkedHead))
  const call = await new RecordedCall(pool).seen('headers')
  call.call.pause()
  const { socket } = server.connections[0]!
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
  let sent = 0
  // Until the buffers between are full: the write then stays queued in the server.
  while (socket.writableLength < 8 * 65_536 && sent < 1_000) {
    socket.write(chunk)
    sent++
    await turn()
  }
  assert.ok(sent < 1_000, 'the server could write without end')
  assert.equal(call.text, '')
  call.call.resume()
  socket.write('0\r\n\r\n')
  await call.over()
  assert.equal(call.text.length, sent * 65_536)
})

test('streams a body of unknown length in chunks, and one of known length as it is', async (t) => {
  const wants: [number | null, string][] = [
    [null, 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n'],
    [11, 'Content-Length: 11\r\n\r\nhello world'],
  ]
  for (const [streamedLength, want] of wants) {
    let request = ''
    const { pool } = await upstreamStage(t, async (connection) => {
      request = await connection.request()
      connection.socket.write(ok)
    })
    const call = new RecordedCall(pool, { method: 'POST', body: { streamedLength } })
    assert.equal(call.call.write(Buffer.from('hello')), false, 'not connected yet')
    await call.seen('drain')
    assert.equal(call.call.write(Buffer.from(' world')), true)
    call.call.endBody()
    await call.over()
    assert.equal(request.slice(-want.length), want)
    assert.equal(pool.stats.idle, 1)
  }
})

test('a streamed body that ends before the connection is made arrives whole', async (t) => {
  let request = ''
  const { pool } = await upstreamStage(t, async (connection) => {
    request = await connection.request()
    connection.socket.write(ok)
  })
  const call = new RecordedCall(pool, { method: 'POST', body: { streamedLength: null } })
  call.call.write(Buffer.from('early'))
  call.call.endBody()
  await call.over()
  assert.match(request, /\r\n\r\n5\r\nearly\r\n0\r\n\r\n$/)
})

test('write says false when the server does not read, and drain comes when it does', async (t) => {
  const { pool, server } = await upstreamStage(t, (connection) => connection.socket.pause())
  const call = new RecordedCall(pool, { method: 'POST', body: { streamedLength: null } })
  await call.seen('drain')
  const piece = Buffer.alloc(1 << 20)
  let pieces = 0
  while (call.call.write(piece)) {
    pieces++
    await turn()
    assert.ok(pieces < 100, 'write never said false')
  }
  const drains = call.told.filter((what) => what === 'drain').length
  server.connections[0]!.socket.resume()
  while (call.told.filter((what) => what === 'drain').length === drains) await turn()
})

test('a streamed body that breaks its own length fails', async (t) => {
  const { pool } = await upstreamStage(t, () => {})
  for (const text of ['123', '12345']) {
    const body = { streamedLength: 4 }
    const call = await new RecordedCall(pool, { method: 'POST', body }).seen('drain')
    call.call.write(Buffer.from(text))
    call.call.endBody()
    await call.over()
    assert.equal(call.failure!.cause, 'bad-request')
  }
})

test('an answer before the whole body was sent is delivered, and the socket closed', async (t) => {
  const early = 'HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno'
  const { pool, server } = await upstreamStage(t, (connection) => {
    connection.socket.pause()
    connection.socket.write(early)
  })
  const whole = new RecordedCall(pool, { method: 'POST', body: [Buffer.alloc(30_000_000)] })
  const streamed = new RecordedCall(pool, { method: 'POST', body: { streamedLength: null } })
  for (const call of [whole, streamed]) {
    await call.over()
    assert.deepEqual([call.status, call.text], [413, 'no'])
    assert.equal(call.call.write(Buffer.from('late')), true)
    call.call.endBody()
  }
  assert.equal(pool.stats.idle, 0)
  for (const { socket } of server.connections) socket.resume()
  for (const connection of server.connections) await connection.closed()
})

test('hands an upgraded connection over, with what was read behind the head', async (t) => {
  let request = ''
  const { pool, server } = await upstreamStage(t, async (connection) => {
    request = await connection.request()
    connection.socket.write('HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\nhello')
  })
  const call = await new RecordedCall(pool, { upgrade: 'websocket' }).over()
  assert.match(request, /\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n$/)
  const { socket, head } = call.upgraded!
  assert.equal(head.toString(), 'hello')
  call.call.abort()
  const back = new Promise<string>((resolve) => socket.on('data', (data) => resolve(String(data))))
  socket.resume()
  server.connections[0]!.socket.write('more')
  assert.equal(await back, 'more')
  socket.write('frames')
  while (server.connections[0]!.received === '') await turn()
  assert.equal(server.connections[0]!.received, 'frames')
  assert.deepEqual([pool.stats.open, pool.stats.idle], [1, 0])
  socket.destroy()
})

test('an upgrade that the server declines is an ordinary answer', async (t) => {
  const { pool } = await upstreamStage(t, (connection) =>
    connection.answer('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno'),
  )
  const call = await new RecordedCall(pool, { upgrade: 'websocket' }).over()
  assert.deepEqual([call.status, call.text], [426, 'no'])
})

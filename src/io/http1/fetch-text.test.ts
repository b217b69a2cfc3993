import assert from 'node:assert/strict'
import { test } from 'node:test'
import { upstreamStage } from '../../../test/support/upstream-stage.ts'
import { FetchFailed, fetchText } from './fetch-text.ts'

const bounds = { timeoutMs: 1_000, bytesMax: 10 }
const ok = 'HTTP/1.1 200 OK\r\n'

async function failure(promise: Promise<unknown>): Promise<FetchFailed> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof FetchFailed)
  return error
}

test('gives status, headers by lower-case name, and the text', async (t) => {
  let request = ''
  const { pool, clock } = await upstreamStage(t, async (connection) => {
    request = await connection.request()
    const head = 'HTTP/1.1 503 Busy\r\nX-A: 1\r\nx-a: 2\r\nTransfer-Encoding: chunked\r\n\r\n'
    connection.socket.write(`${head}1\r\nh\r\n2\r\n\xe9\r\n0\r\n\r\n`)
  })
  const options = { ...bounds, method: 'POST', headers: ['Accept', '*/*'], body: '{}' }
  const { status, headers, text } = await fetchText(pool, '/tokenize', options, clock)
  assert.deepEqual([status, headers.get('x-a'), text], [503, '1, 2', 'h\xe9'])
  assert.match(request, /^POST \/tokenize HTTP\/1.1\r\nAccept: \*\/\*\r\n.*\r\n\r\n\{\}$/s)
  assert.equal(clock.pending, 1, 'only the pool waits, for its resting socket')
})

test('refuses more bytes than asked for, and closes', async (t) => {
  const { pool, server, clock } = await upstreamStage(t, (connection) =>
    connection.answer(`${ok}Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n`),
  )
  const { message } = await failure(fetchText(pool, '/metrics', bounds, clock))
  assert.equal(message, 'answer longer than 10 bytes')
  await server.connections[0]!.closed()
})

test('gives up when the whole answer has not come in time', async (t) => {
  const { pool, server, clock } = await upstreamStage(t, (connection) =>
    connection.answer(`${ok}Content-Length: 9\r\n\r\n123`),
  )
  const failed = failure(fetchText(pool, '/health', bounds, clock))
  while (server.connections[0]?.socket.bytesWritten === 0) await new Promise(setImmediate)
  clock.advance(1_000)
  assert.equal((await failed).message, 'no whole answer within 1000 ms')
})

test('says what is wrong in words for an operator', async (t) => {
  const { pool, server, clock } = await upstreamStage(t, () => {})
  await server.stop()
  const { message, failure: upstream } = await failure(fetchText(pool, '/health', bounds, clock))
  assert.equal(message, 'connection refused')
  assert.equal(upstream!.phase, 'connect')
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { ClientSocket } from './client-socket.ts'

async function acceptedFrom(t: TestContext): Promise<{ accepted: Socket; client: Socket }> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [accepted] = (await once(server, 'connection')) as [Socket]
  t.after(async () => {
    client.destroy()
    server.close()
    await once(server, 'close')
  })
  return { accepted, client }
}

test('on this Node reads share one buffer; the server still counts the socket', async (t) => {
  const { accepted, client } = await acceptedFrom(t)
  const buffers = new Set<ArrayBufferLike>()
  let text = ''
  const { promise, resolve } = Promise.withResolvers<void>()
  const one = new ClientSocket(accepted, (bytes) => {
    buffers.add(bytes.buffer)
    text += bytes.toString()
    if (text === 'onetwo') resolve()
    else client.write('two')
  })
  assert.ok(one.shared)
  client.write('one')
  await promise
  assert.equal(buffers.size, 1)
  one.socket.end()
})

test('released, it is a stream: nothing is lost, and it is read as fast as it is taken', async (t) => {
  const { accepted, client } = await acceptedFrom(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  const one = new ClientSocket(accepted, () => resolve())
  client.write('first')
  await promise
  const socket = one.release()
  client.end('x'.repeat(5_000_000))
  let bytes = 0
  // Slower than it comes: the buffer of the stream fills, and reading stops for a while.
  for await (const piece of socket) {
    bytes += (piece as Buffer).length
    await new Promise((proceed) => setImmediate(proceed))
  }
  assert.equal(bytes, 5_000_000)
})

test('a socket without a handle to move is read as it is', async () => {
  const stream = new PassThrough()
  const { promise, resolve } = Promise.withResolvers<string>()
  const one = new ClientSocket(stream as unknown as Socket, (bytes) => resolve(bytes.toString()))
  assert.equal(one.shared, false)
  stream.write('hello')
  assert.equal(await promise, 'hello')
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { RecordedCall } from '../../../test/support/recorded-call.ts'
import type { ScriptedConnection } from '../../../test/support/scripted-server.ts'
import { upstreamStage } from '../../../test/support/upstream-stage.ts'
import { tunnel } from './tunnel.ts'

interface Tunnel {
  readonly client: Socket
  readonly engine: ScriptedConnection
  readonly closed: Promise<boolean>
}

const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n'
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function tunnelStage(t: TestContext): Promise<Tunnel> {
  const { pool, server } = await upstreamStage(t, (connection) => connection.answer(switching))
  const front = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  const { port } = front.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const [near] = (await once(front, 'connection')) as [Socket]
  t.after(() => {
    client.destroy()
    near.destroy()
    front.close()
  })
  const { upgraded } = await new RecordedCall(pool, { upgrade: 'websocket' }).over()
  const closed = new Promise<boolean>((resolve) => tunnel(near, upgraded!.socket, resolve))
  return { client, engine: server.connections[0]!, closed }
}

test('passes bytes both ways, and the end of one half before the other', async (t) => {
  const { client, engine, closed } = await tunnelStage(t)
  client.end('ping')
  while (engine.received !== 'ping') await turn()
  engine.socket.write('po')
  engine.socket.end('ng')
  const back: Buffer[] = []
  for await (const piece of client) back.push(piece as Buffer)
  assert.equal(Buffer.concat(back).toString(), 'pong')
  assert.equal(await closed, true)
})

for (const breaking of ['client', 'engine'] as const) {
  test(`destroys the other side when the ${breaking} breaks`, async (t) => {
    const { client, engine, closed } = await tunnelStage(t)
    client.on('error', () => {})
    client.on('end', () => client.destroy())
    client.resume()
    if (breaking === 'client') client.resetAndDestroy()
    else engine.socket.resetAndDestroy()
    assert.equal(await closed, false)
    if (breaking === 'client') await engine.closed()
    else if (!client.closed) await once(client, 'close')
  })
}

test('reads one side only as fast as the other takes', async (t) => {
  const { client, engine } = await tunnelStage(t)
  client.pause()
  const piece = Buffer.alloc(65_536)
  let sent = 0
  while (engine.socket.writableLength < 8 * piece.length && sent < 1_000) {
    engine.socket.write(piece)
    sent++
    await turn()
  }
  assert.ok(sent < 1_000, 'the engine could write without end')
  engine.socket.end()
  let got = 0
  for await (const data of client) got += (data as Buffer).length
  assert.equal(got, sent * piece.length)
})

/** F116: realtime sessions over WebSocket. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GatewayStage } from '../support/gateway-stage.ts'
import type { RawClient } from '../support/raw-client.ts'
import { RawEngine, type Script } from '../support/raw-engine.ts'
import { seenBy } from '../support/seen-by-client.ts'

const switches: Script = (call) =>
  call.write(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
      'sec-websocket-accept: abc\r\n\r\n',
  )

function handshake(stage: GatewayStage, path: string): RawClient {
  return stage
    .client()
    .send(
      `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
        'sec-websocket-key: k\r\nsec-websocket-version: 13\r\nx-gateway-x: 1\r\n\r\n',
    )
}

async function twoModels(
  t: Parameters<typeof RawEngine.start>[0],
  script = switches,
  timeScale = 1,
) {
  const [a, b] = [await RawEngine.start(t, script), await RawEngine.start(t, script)]
  a.models = ['a']
  b.models = ['b']
  const stage = await GatewayStage.start(t, [a, b], {
    config: { drainTimeoutMs: 5_000 },
    timeScale,
  })
  return { a, b, stage }
}

describe('F116: an upgrade', () => {
  test('goes to the model’s engine; frames pass both ways, byte for byte', async (t) => {
    const { a, b, stage } = await twoModels(t)
    const client = handshake(stage, '/v1/realtime?model=b')
    const head = await client.until('\r\n\r\n')
    assert.match(head, /^HTTP\/1\.1 101 /)
    assert.match(head, /sec-websocket-accept: abc/)
    assert.match(head, /upgrade: websocket/i)
    const call = b.calls[0]!
    assert.equal(a.calls.length, 0)
    assert.equal(call.line, 'GET /v1/realtime?model=b')
    assert.equal(call.header('sec-websocket-key'), 'k')
    assert.equal(call.header('connection'), 'Upgrade')
    assert.equal(call.header('x-gateway-x'), null)
    const frame = Buffer.from([0x82, 5, 0, 255, 13, 10, 1])
    client.take()
    call.connection.socket.write(frame)
    assert.equal(await client.until('\u0001'), frame.toString('latin1'))
    client.send(frame)
    await stage.statusWhen(() => call.connection.received === frame.toString('latin1'))
    assert.equal((await stage.status()).endpoints[1]!.inFlight, 1)
  })

  test('ends when the client leaves: the engine is told, the work is off the ledger', async (t) => {
    const { b, stage } = await twoModels(t)
    const client = handshake(stage, '/v1/realtime?model=b')
    await client.until('\r\n\r\n')
    client.close()
    await b.calls[0]!.closed()
    await stage.statusWhen(({ endpoints, openRequests }) => {
      return endpoints[1]!.inFlight === 0 && openRequests === 0
    })
  })

  test('ends when the engine dies, also where the client does not close its half', async (t) => {
    const { b, stage } = await twoModels(t, switches, 20)
    const client = handshake(stage, '/v1/realtime?model=b')
    await client.until('\r\n\r\n')
    b.stop()
    await client.over()
    await stage.statusWhen(({ openRequests }) => openRequests === 0)
  })

  test('that the engine declines is answered as it answers', async (t) => {
    const { stage } = await twoModels(t, (call) => call.answer(403, '{"error":"no"}'))
    const client = handshake(stage, '/v1/realtime?model=a')
    assert.match(await client.until('{"error":"no"}'), /^HTTP\/1\.1 403 /)
    await stage.statusWhen(({ openRequests }) => openRequests === 0)
  })

  test('to a model that nobody serves is refused in words', async (t) => {
    const { stage } = await twoModels(t)
    const client = handshake(stage, '/v1/realtime?model=z')
    assert.match(await client.until('model_not_found'), /^HTTP\/1\.1 404 /)
  })

  test('to an engine that is gone goes to another', async (t) => {
    const [a, b] = [await RawEngine.start(t, switches), await RawEngine.start(t, switches)]
    const stage = await GatewayStage.start(t, [a, b])
    a.stop()
    const clients = [0, 1].map(() => handshake(stage, '/v1/realtime'))
    for (const client of clients) assert.match(await client.until('\r\n\r\n'), /^HTTP\/1\.1 101 /)
    assert.equal(b.calls.length, 2)
  })

  test('is waited for by a drain', async (t) => {
    const { stage } = await twoModels(t)
    const [kept, closed] = [0, 1].map(() => handshake(stage, '/v1/realtime?model=a'))
    await kept!.until('\r\n\r\n')
    await closed!.until('\r\n\r\n')
    let drained = false
    const draining = stage.gateway.drain().then(() => {
      drained = true
    })
    closed!.close()
    await stage.logged('router.draining')
    assert.equal(kept!.ended, null)
    assert.equal(drained, false)
    kept!.close()
    await draining
  })

  test('is cut on both sides when the drain’s time is up', async (t) => {
    const { a, stage } = await twoModels(t, switches, 20)
    const client = handshake(stage, '/v1/realtime?model=a')
    await client.until('\r\n\r\n')
    const { connection } = a.calls[0]!
    const draining = stage.gateway.drain()
    client.take()
    connection.socket.write('still')
    await client.until('still')
    await draining
    await client.over()
    await connection.closed()
    const { fields } = await stage.logged('router.stopped')
    assert.equal(fields.openRequests, 1)
  })

  test('that is asked for with a prompt is not taken: the prompt is answered', async (t) => {
    const engine = await RawEngine.start(t, (call) => call.answer(200, '{}'))
    const stage = await GatewayStage.start(t, [engine])
    const headers = ['connection: upgrade, close', 'upgrade: h2c', 'content-type: application/json']
    const body = '{"model":"m","messages":[]}'
    const seen = await seenBy(stage.request('POST /v1/chat/completions', body, headers))
    assert.equal(seen.status, 200)
    assert.equal(engine.calls[0]!.header('upgrade'), null)
  })
})

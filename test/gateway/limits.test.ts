/** What a client may not do, and how it is told. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GatewayStage } from '../support/gateway-stage.ts'
import { RawEngine, type Script, wholeAnswer } from '../support/raw-engine.ts'
import { headerIn, seenBy } from '../support/seen-by-client.ts'

const chatPath = 'POST /v1/chat/completions'
const json = ['content-type: application/json']
const ok: Script = (call) => call.answer(200, wholeAnswer('well'))

const bodyOf = (bytes: number): string => {
  const frame = '{"model":"m","messages":[{"role":"user","content":""}]}'
  return frame.replace('""}', `"${'x'.repeat(bytes - frame.length)}"}`)
}

describe('F125: the size of a body', () => {
  for (const bytes of [33_000, 20 * 1_048_576]) {
    test(`${bytes} bytes are taken`, async (t) => {
      const engine = await RawEngine.start(t, ok)
      const stage = await GatewayStage.start(t, [engine])
      const { status } = await seenBy(stage.request(chatPath, bodyOf(bytes), json))
      assert.equal(status, 200)
      assert.equal(engine.calls[0]!.body.length, bytes)
    })
  }

  const tooLarge = 32 * 1_048_576 + 1

  test('beyond 32 MiB: refused in JSON, by the declared length alone', async (t) => {
    const engine = await RawEngine.start(t, ok)
    const stage = await GatewayStage.start(t, [engine])
    const client = stage
      .client()
      .send(`${chatPath} HTTP/1.1\r\nhost: x\r\ncontent-length: ${tooLarge}\r\n\r\n`)
    const { status, body } = await seenBy(client)
    assert.equal(status, 413)
    const { error } = JSON.parse(body)
    assert.equal(error.code, 'body_too_large')
    assert.match(error.message, /32 MiB/)
    assert.equal(engine.calls.length, 0)
    assert.equal(await stage.metric('warmpath_refusals_total', 'code="body_too_large"'), 1)
    await stage.logged('request.refused')
  })

  test('beyond 32 MiB in chunks: refused when that is seen', async (t) => {
    const engine = await RawEngine.start(t, ok)
    const config = { maxBodyBytes: 100_000 }
    const stage = await GatewayStage.start(t, [engine], { config })
    const client = stage.client()
    client.send(`${chatPath} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`)
    for (let i = 0; i < 3; i++) client.send(`c350\r\n${'x'.repeat(50_000)}\r\n`)
    const { status, body } = await seenBy(client)
    assert.equal(status, 413)
    assert.match(JSON.parse(body).error.message, /100000 bytes/)
  })

  test('Anthropic’s clients are refused in their own shape', async (t) => {
    const engine = await RawEngine.start(t, ok)
    const config = { maxBodyBytes: 100 }
    const stage = await GatewayStage.start(t, [engine], { config })
    const { status, body } = await seenBy(stage.request('POST /v1/messages', bodyOf(200), json))
    assert.equal(status, 413)
    assert.equal(JSON.parse(body).error.type, 'request_too_large')
  })
})

test('a head beyond its limit is refused', async (t) => {
  const engine = await RawEngine.start(t, ok)
  const stage = await GatewayStage.start(t, [engine], { config: { maxHeaderBytes: 2_048 } })
  const { status } = await seenBy(stage.chat({}, { headers: [`a: ${'x'.repeat(3_000)}`] }))
  assert.equal(status, 431)
  const long = await seenBy(stage.request(`GET /v1/${'x'.repeat(3_000)}`))
  assert.equal(long.status, 431)
  assert.equal(engine.calls.length, 0)
})

test('bytes that two servers could read differently reach no engine', async (t) => {
  const engine = await RawEngine.start(t, ok)
  const stage = await GatewayStage.start(t, [engine])
  const smuggled = bodyOf(100)
  for (const lines of [
    'content-length: 3\r\ntransfer-encoding: chunked',
    'content-length: 3\r\ncontent-length: 100',
    'transfer-encoding: chunked, identity',
    'content-length : 100',
  ]) {
    const head = `${chatPath} HTTP/1.1\r\nhost: x\r\n${lines}\r\n\r\n`
    const { status } = await seenBy(stage.client().send(head + smuggled))
    assert.equal(status, 400)
  }
  assert.equal(engine.calls.length, 0)
})

test('a body that stops coming is answered, and its memory let go', async (t) => {
  const engine = await RawEngine.start(t, ok)
  const config = { bodyTimeoutMs: 1_000 }
  const stage = await GatewayStage.start(t, [engine], { config, timeScale: 20 })
  const client = stage.client()
  client.send(`${chatPath} HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{"model"`)
  const { status, body } = await seenBy(client)
  assert.equal(status, 408)
  assert.equal(JSON.parse(body).error.code, 'request_timeout')
  assert.equal((await stage.status()).openRequests, 0)
})

test('as many requests as may be open: one more is refused, and told when to come', async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine], { config: { maxOpenRequests: 2 } })
  const first = stage.chat()
  stage.chat()
  const calls = [await engine.call(0), await engine.call(1)]
  const { status, head, body } = await seenBy(stage.chat())
  assert.equal(status, 503)
  assert.equal(JSON.parse(body).error.code, 'router_overloaded')
  assert.equal(headerIn(head, 'retry-after'), '1')
  assert.equal((await seenBy(stage.request('GET /healthz'))).status, 200)
  calls[0]!.answer(200, wholeAnswer('x'))
  await first.over()
  stage.chat()
  await engine.call(2)
})

test('a client that reads slowly holds the engine back, not memory', async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine])
  const client = stage.chat({ stream: true })
  client.socket.pause()
  const { socket } = (await engine.call(0)).beginStream().connection
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
  let sentBytes = 0
  // Until the engine is held back for good: kernel buffers along the way take some megabytes.
  for (let waits = 0; waits < 20; ) {
    if (socket.writableLength === 0) {
      socket.write(chunk)
      sentBytes += chunk.length
      waits = 0
    } else {
      waits++
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.ok(sentBytes < 100_000_000, 'the engine is never held back')
  }
  client.socket.resume()
  socket.write('3\r\nend\r\n0\r\n\r\n')
  await client.until('end')
})

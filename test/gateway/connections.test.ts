/** What a client may do with its connection, and what engines see of that. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GatewayStage } from '../support/gateway-stage.ts'
import { RawEngine, type Script, wholeAnswer } from '../support/raw-engine.ts'
import { headerIn, seenBy } from '../support/seen-by-client.ts'

const ok: Script = (call) => call.answer(200, wholeAnswer('well'))

function chatText(user: string, lines: readonly string[] = []): string {
  const body = JSON.stringify({ model: 'm', user, messages: [{ role: 'user', content: 'x' }] })
  const head = ['POST /v1/chat/completions HTTP/1.1', 'host: router', ...lines]
  return [...head, `content-length: ${body.length}`, '', body].join('\r\n')
}

describe('one connection, several requests', () => {
  test('one after the other: both sides keep their connection', async (t) => {
    const engine = await RawEngine.start(t, (call) => call.answer(200, call.body))
    const stage = await GatewayStage.start(t, [engine])
    const client = stage.client()
    for (const user of ['first', 'second', 'third']) {
      client.send(chatText(user))
      assert.match(await client.until(`"user":"${user}"`), /^HTTP\/1\.1 200 /)
      await client.until('}')
      client.take()
    }
    assert.equal(client.ended, null)
    const connections = new Set(engine.calls.map(({ connection }) => connection))
    assert.equal(connections.size, 1)
    assert.ok(
      engine.calls.every(({ reused }) => reused),
      'the probes had opened it',
    )
  })

  test('pipelined: answered in order, though the later engine is the sooner one', async (t) => {
    const [slow, fast] = [await RawEngine.start(t), await RawEngine.start(t, ok)]
    const stage = await GatewayStage.start(t, [slow, fast])
    const client = stage.client()
    client.send(chatText('first') + chatText('second', ['connection: close']))
    const first = await slow.call(0)
    assert.match(first.body, /"user":"first"/)
    first.answer(200, wholeAnswer('slow'))
    const { how, text } = await client.over()
    assert.equal(how, 'end')
    assert.equal(text.match(/HTTP\/1\.1 200 /g)?.length, 2)
    assert.ok(text.indexOf('"content":"slow"') < text.indexOf('"content":"well"'))
    assert.match(fast.calls[0]!.body, /"user":"second"/)
  })

  test('a client of HTTP/1.0 gets a stream that ends with the connection', async (t) => {
    const engine = await RawEngine.start(t, (call) => {
      call.beginStream().chunk('data: one\n\n').chunk('data: [DONE]\n\n').endChunks()
    })
    const stage = await GatewayStage.start(t, [engine])
    const client = stage.client().send(chatText('x').replace('HTTP/1.1', 'HTTP/1.0'))
    const { how, text } = await client.over()
    assert.equal(how, 'end')
    assert.doesNotMatch(text, /transfer-encoding/i)
    assert.equal(text.slice(text.indexOf('\r\n\r\n') + 4), 'data: one\n\ndata: [DONE]\n\n')
  })
})

describe('Expect: 100-continue', () => {
  test('is answered by the router, and the engine never hears of it', async (t) => {
    const engine = await RawEngine.start(t, ok)
    const stage = await GatewayStage.start(t, [engine])
    const text = chatText('x', ['expect: 100-continue', 'connection: close'])
    const bodyAt = text.indexOf('\r\n\r\n') + 4
    const client = stage.client().send(text.slice(0, bodyAt))
    assert.equal(await client.until('\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n')
    client.take()
    assert.equal((await seenBy(client.send(text.slice(bodyAt)))).status, 200)
    assert.equal(engine.calls[0]!.header('expect'), null)
    assert.equal(engine.calls[0]!.body, text.slice(bodyAt))
  })

  test('of a body that is too large is refused before it is sent', async (t) => {
    const engine = await RawEngine.start(t, ok)
    const stage = await GatewayStage.start(t, [engine], { config: { maxBodyBytes: 10 } })
    const text = chatText('x', ['expect: 100-continue'])
    const client = stage.client().send(text.slice(0, text.indexOf('\r\n\r\n') + 4))
    const { status, body } = await seenBy(client)
    assert.equal(status, 413)
    assert.equal(JSON.parse(body).error.code, 'body_too_large')
  })
})

describe('answers without a body', () => {
  test('to HEAD: the engine’s head, with its length, and nothing behind it', async (t) => {
    const engine = await RawEngine.start(t, (call) => call.begin(200, ['x-engine: 1'], 321))
    const stage = await GatewayStage.start(t, [engine])
    const { status, head, body } = await seenBy(stage.request('HEAD /v1/things'))
    assert.equal(status, 200)
    assert.equal(headerIn(head, 'content-length'), '321')
    assert.equal(headerIn(head, 'x-engine'), '1')
    assert.equal(body, '')
    assert.equal(engine.calls[0]!.line, 'HEAD /v1/things')
  })

  for (const page of ['/healthz', '/readyz', '/metrics', '/status', '/v1/models']) {
    test(`to HEAD of ${page}`, async (t) => {
      const stage = await GatewayStage.start(t, [await RawEngine.start(t, ok)])
      const { status, body } = await seenBy(stage.request(`HEAD ${page}`))
      assert.deepEqual([status, body], [200, ''])
    })
  }

  test('to OPTIONS of a preflight: the engine decides, as it would without us', async (t) => {
    const engine = await RawEngine.start(t, (call) => {
      call.write('HTTP/1.1 204 No Content\r\naccess-control-allow-origin: *\r\n\r\n')
    })
    const stage = await GatewayStage.start(t, [engine])
    const asks = ['origin: http://page', 'access-control-request-method: POST']
    const { status, head, body } = await seenBy(stage.request('OPTIONS /v1/things', '', asks))
    assert.equal(status, 204)
    assert.equal(headerIn(head, 'access-control-allow-origin'), '*')
    assert.equal(headerIn(head, 'content-length'), null)
    assert.equal(body, '')
    assert.equal(engine.calls[0]!.header('access-control-request-method'), 'POST')
  })
})

test('headers that stop coming are answered 408, in JSON', async (t) => {
  const engine = await RawEngine.start(t, ok)
  const config = { headersTimeoutMs: 1_000 }
  const stage = await GatewayStage.start(t, [engine], { config, timeScale: 20 })
  const client = stage.client().send('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow:')
  const { status, body } = await seenBy(client)
  assert.equal(status, 408)
  assert.equal(JSON.parse(body).error.code, 'request_timeout')
  assert.equal(engine.calls.length, 0)
})

describe('a request hidden in another', () => {
  const hidden = 'GET /v1/hidden HTTP/1.1\r\nhost: x\r\n\r\n'
  const post = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n'
  const attempts: Record<string, string> = {
    'CL.TE': `${post}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    'TE.CL': `${post}transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\n${hidden}`,
    'TE.TE': `${post}transfer-encoding: chunked\r\ntransfer-encoding: x\r\n\r\n0\r\n\r\n${hidden}`,
    'a list of lengths': `${post}content-length: 0, 5\r\n\r\n${hidden}`,
    'a signed length': `${post}content-length: +0\r\n\r\n${hidden}`,
    'a folded header': `${post}content-length: 0\r\nx: y\r\n content-length: 9\r\n\r\n${hidden}`,
    'a bare LF behind a chunk size': `${post}transfer-encoding: chunked\r\n\r\n0\n\r\n${hidden}`,
    'a chunk size with a sign': `${post}transfer-encoding: chunked\r\n\r\n-1\r\n\r\n${hidden}`,
    'chunks from HTTP/1.0': `${post.replace('1.1', '1.0')}transfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  }
  for (const [title, text] of Object.entries(attempts)) {
    test(`by ${title}: refused, and nothing behind it is read`, async (t) => {
      const engine = await RawEngine.start(t, ok)
      const stage = await GatewayStage.start(t, [engine])
      const { text: answers } = await stage.client().send(text).over()
      assert.match(answers, /^HTTP\/1\.1 400 /)
      assert.equal(answers.match(/HTTP\/1\.1 /g)?.length, 1)
      assert.equal(engine.calls.length, 0)
    })
  }
})

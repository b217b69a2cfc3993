/** Which headers travel, which are made anew, and which no client may set. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayStage } from '../support/gateway-stage.ts'
import { RawEngine, type Script, wholeAnswer } from '../support/raw-engine.ts'
import { headerIn, seenBy } from '../support/seen-by-client.ts'

const ok: Script = (call) => call.answer(200, wholeAnswer('well'))

test('F108: engines get ids of our own, unique; the client gets its own back', async (t) => {
  const engine = await RawEngine.start(t, (call) =>
    call.answer(200, wholeAnswer('x'), [`x-request-id: ${call.header('x-request-id')}`]),
  )
  const stage = await GatewayStage.start(t, [engine])
  const same = { headers: ['x-request-id: mine'] }
  const seen = await Promise.all([seenBy(stage.chat({}, same)), seenBy(stage.chat({}, same))])
  const ids = engine.calls.map((call) => call.header('x-request-id'))
  assert.equal(new Set([...ids, 'mine']).size, 3)
  for (const { head } of seen) assert.equal(headerIn(head, 'x-request-id'), 'mine')
  const own = seen.map(({ head }) => headerIn(head, 'x-warmpath-request-id'))
  assert.deepEqual(own.toSorted(), ids.toSorted())
})

test('F108: a client without an id learns ours', async (t) => {
  const engine = await RawEngine.start(t, ok)
  const stage = await GatewayStage.start(t, [engine])
  const { head } = await seenBy(stage.chat())
  assert.equal(headerIn(head, 'x-request-id'), engine.calls[0]!.header('x-request-id'))
})

const forged = [
  'x-gateway-destination-endpoint: evil:80',
  'X-Gateway-Model-Name: other',
  'x-prefiller-host-port: evil:80',
  'x-prefiller-url: http://evil',
  'x-data-parallel-rank: 7',
  'x-envoy-original-dst-host: evil:80',
  'x-warmpath-endpoint: http://evil',
]

test('F119: no client chooses a host, a rank or an endpoint', async (t) => {
  const engine = await RawEngine.start(t, ok)
  const stage = await GatewayStage.start(t, [engine])
  const { head } = await seenBy(stage.chat({}, { headers: forged }))
  for (const line of forged) assert.equal(engine.calls[0]!.header(line.split(':')[0]!), null)
  assert.equal(headerIn(head, 'x-warmpath-endpoint'), engine.url)
})

test('F123: nor does it where the body names no model', async (t) => {
  const [a, b] = [await RawEngine.start(t, ok), await RawEngine.start(t, ok)]
  a.models = ['a']
  b.models = ['b']
  const stage = await GatewayStage.start(t, [a, b])
  const headers = [...forged, 'x-gateway-model-name: b', 'content-type: application/json']
  await stage.request('POST /v1/completions', '{"prompt":"x"}', headers).over()
  assert.equal(a.calls.length, 1, 'in turn, whatever the header says')
  assert.equal(a.calls[0]!.header('x-gateway-model-name'), null)
})

test('what belongs to a connection stays on it', async (t) => {
  const engine = await RawEngine.start(t, (call) =>
    call.answer(200, wholeAnswer('x'), [
      'connection: keep-alive, x-hop',
      'x-hop: 1',
      'keep-alive: timeout=5',
      'proxy-authenticate: Basic',
      'x-stays: 1',
    ]),
  )
  const stage = await GatewayStage.start(t, [engine])
  const body = '{"model":"m","prompt":"x"}'
  const client = stage
    .client()
    .send(
      [
        'POST /v1/completions HTTP/1.1',
        'host: router:1',
        'connection: close, x-mine',
        'x-mine: 1',
        'te: trailers',
        'upgrade: h2c',
        'proxy-authorization: Basic x',
        'x-other: 1',
        'authorization: Bearer client',
        `content-length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    )
  const { head } = await seenBy(client)
  const call = engine.calls[0]!
  for (const name of ['x-mine', 'te', 'upgrade', 'proxy-authorization', 'connection']) {
    assert.equal(call.header(name), null, name)
  }
  assert.equal(call.header('x-other'), '1')
  assert.equal(call.header('authorization'), 'Bearer client')
  assert.equal(call.header('host'), new URL(engine.url).host)
  for (const name of ['x-hop', 'keep-alive', 'proxy-authenticate']) {
    assert.equal(headerIn(head, name), null, name)
  }
  assert.equal(headerIn(head, 'x-stays'), '1')
})

test('an engine’s own key takes the place of the client’s', async (t) => {
  process.env.TEST_ENGINE_KEY = 'secret'
  t.after(() => {
    delete process.env.TEST_ENGINE_KEY
  })
  const engine = await RawEngine.start(t, ok)
  const endpoints = [{ url: engine.url, apiKeyEnv: 'TEST_ENGINE_KEY' }]
  const stage = await GatewayStage.start(t, [engine], { config: { endpoints } })
  await stage.chat({}, { headers: ['authorization: Bearer client'] }).over()
  assert.equal(engine.calls[0]!.header('authorization'), 'Bearer secret')
})

test('the router’s own headers can be turned off', async (t) => {
  const engine = await RawEngine.start(t, ok)
  const stage = await GatewayStage.start(t, [engine], { config: { responseHeaders: false } })
  const { head } = await seenBy(stage.chat())
  assert.doesNotMatch(head, /x-warmpath/i)
})

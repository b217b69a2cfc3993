/** Streams that break, hang, pause or lie: what the client can still trust. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayStage } from '../support/gateway-stage.ts'
import {
  answersWell,
  lastEvents,
  RawEngine,
  type Script,
  tokenEvent,
  wholeAnswer,
} from '../support/raw-engine.ts'
import { seenBy } from '../support/seen-by-client.ts'

const streaming = { stream: true }
const timeout = { timeout: 20_000 }

const tokens = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => tokenEvent(`t${i}.`))

/** Sends these events, and waits. */
const sends =
  (events: readonly string[]): Script =>
  (call) => {
    call.beginStream()
    for (const event of events) call.chunk(event)
  }

/** The error that the API's clients raise on, by the path that they call. */
const errorShapes = {
  '/v1/chat/completions': /^data: \{"error":\{"message":"[^"]+","type":"server_error".*\}\}\n\n$/,
  '/v1/completions': /^data: \{"error":\{"message":"[^"]+","type":"server_error".*\}\}\n\n$/,
  '/v1/messages': /^event: error\ndata: \{"type":"error","error":\{"type":"api_error".*\}\n\n$/,
  '/v1/responses': /^event: error\ndata: \{"type":"error","code":"upstream_broken".*\}\n\n$/,
} as const

for (const [path, shape] of Object.entries(errorShapes)) {
  test(`F003: ${path}, reset after 40 of 60 tokens: told, cut, counted`, timeout, async (t) => {
    const sent = tokens(40)
    const engine = await RawEngine.start(t, sends(sent))
    const stage = await GatewayStage.start(t, [engine])
    const fields = { ...streaming, store: false, input: 'Say hello.', prompt: 'Say hello.' }
    const client = stage.chat(fields, { path })
    await client.until('t39.')
    engine.calls[0]!.reset()
    const { status, body, whole } = await seenBy(client)
    assert.equal(status, 200)
    const whatCame = sent.join('')
    assert.equal(body.slice(0, whatCame.length), whatCame)
    assert.match(body.slice(whatCame.length), shape)
    assert.ok(!body.includes('[DONE]') && !body.includes('message_stop'))
    assert.ok(!whole, 'no proper end')
    assert.equal(await stage.metric('warmpath_requests_total', 'outcome="failed"'), 1)
    assert.equal((await stage.status()).endpoints[0]!.inFlight, 0)
  })
}

test('F003: an event cut in two is not glued to the error that follows', timeout, async (t) => {
  const [first, second] = [tokenEvent('one'), tokenEvent('two')]
  const engine = await RawEngine.start(t, sends([first, second.slice(0, 30)]))
  const stage = await GatewayStage.start(t, [engine])
  const client = stage.chat(streaming)
  await client.until(second.slice(10, 30))
  engine.calls[0]!.reset()
  const { body } = await seenBy(client)
  const events = body.split('\n\n').filter((event) => event !== '')
  assert.match(events.at(-1)!, /^data: \{"error":/)
})

test(
  'F003: half of an answer that does not stream never ends in good order',
  timeout,
  async (t) => {
    const answer = wholeAnswer('x'.repeat(500))
    const lengths = [answer.length, null]
    const engine = await RawEngine.start(t, (call) => {
      const bytes = lengths[engine.calls.length - 1]!
      call.begin(200, ['content-type: application/json'], bytes)
      if (bytes === null) call.chunk(answer.slice(0, 400))
      else call.part(answer.slice(0, 400))
    })
    const stage = await GatewayStage.start(t, [engine])
    for (const number of [0, 1]) {
      const client = stage.chat()
      await client.until(answer.slice(300, 400))
      engine.calls[number]!.reset()
      const { body, whole, how } = await seenBy(client)
      assert.equal(body, answer.slice(0, 400))
      assert.deepEqual({ whole, how }, { whole: false, how: 'reset' })
    }
  },
)

test(
  'F004: silence below the limit is a pause, and no limit is on the whole',
  timeout,
  async (t) => {
    const timeScale = 200
    const pauses = 5
    // 50 s each by the router's clock, of the 120 s that are allowed; 250 s in all.
    const pauseMs = 50_000 / timeScale
    const engine = await RawEngine.start(t, async (call) => {
      call.beginStream()
      for (let i = 0; i < pauses; i++) {
        call.chunk(tokenEvent(`t${i}.`))
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
      call.chunk(lastEvents).endChunks()
    })
    const stage = await GatewayStage.start(t, [engine], { timeScale })
    const { body, whole } = await seenBy(stage.chat(streaming))
    assert.equal(body, [...tokens(pauses), lastEvents].join(''))
    assert.ok(whole)
    const ranMs = (await stage.status()).uptimeMs
    assert.ok(ranMs >= 250_000, `${ranMs} ms of the router's time`)
  },
)

test(
  'F016: an error after five tokens is told, never begun again elsewhere',
  timeout,
  async (t) => {
    const engine = await RawEngine.start(t, sends(tokens(5)))
    const other = await RawEngine.start(t, answersWell)
    const stage = await GatewayStage.start(t, [engine, other])
    const client = stage.chat(streaming)
    await client.until('t4.')
    engine.calls[0]!.reset()
    const { body } = await seenBy(client)
    assert.deepEqual(body.match(/t\d\./g), ['t0.', 't1.', 't2.', 't3.', 't4.'])
    assert.match(body, /"code":"upstream_broken"/)
    assert.equal(other.calls.length, 0)
  },
)

test(
  'F127: comments keep the connection busy until the first token, if wanted',
  timeout,
  async (t) => {
    const engine = await RawEngine.start(t)
    const stage = await GatewayStage.start(t, [engine], { config: { sseKeepAliveMs: 20 } })
    const client = stage.chat(streaming)
    await client.until(': waiting\n\n')
    client.take()
    await client.until(': waiting\n\n')
    client.take()
    await client.until(': waiting\n\n')
    engine.calls[0]!.beginStream().chunk(tokenEvent('one'))
    await client.until('one')
    client.take()
    await new Promise((resolve) => setTimeout(resolve, 60))
    engine.calls[0]!.chunk(lastEvents).endChunks()
    const { text } = await client.over()
    assert.ok(!text.includes(': waiting'), 'none behind the first token')
    assert.ok(text.endsWith('[DONE]\n\n\r\n0\r\n\r\n'))
  },
)

test('F127: behind a comment an error can only come as an event', timeout, async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine], { config: { sseKeepAliveMs: 20 } })
  const ends: ((number: number) => unknown)[] = [
    (number) => engine.calls[number]!.answer(400, '{"error":{"message":"too long","code":400}}'),
    (number) => engine.calls[number]!.answer(503, '{"error":{"message":"busy","code":503}}'),
    (number) => engine.calls[number]!.reset(),
  ]
  for (const [number, end] of ends.entries()) {
    const client = stage.chat(streaming)
    await client.until(': waiting\n\n')
    await engine.call(number)
    end(number)
    // A reset on a kept connection is mended by a fresh one.
    if (number === 2 && engine.calls[2]!.reused) (await engine.call(3)).reset()
    const { status, body, whole } = await seenBy(client)
    assert.equal(status, 200)
    assert.match(body, /^(: waiting\n\n)+data: \{"error":\{"message":"[^"]+".*\}\}\n\n$/)
    assert.ok(!whole)
  }
})

test('F127: without the option, and for unary calls, nothing is sent early', timeout, async (t) => {
  const engine = await RawEngine.start(t)
  const cases = [
    { config: {}, fields: streaming },
    { config: { sseKeepAliveMs: 10 }, fields: {} },
  ]
  for (const [number, { config, fields }] of cases.entries()) {
    const stage = await GatewayStage.start(t, [engine], { config })
    const client = stage.chat(fields)
    const call = await engine.call(number)
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(client.received, '')
    answersWell(call)
    const { body } = await seenBy(client)
    assert.equal(body, call.sentBody)
  }
})

test(
  'F137: silence of an engine that refuses connections ends in bounded time',
  timeout,
  async (t) => {
    const engine = await RawEngine.start(t, sends(tokens(3)))
    const other = await RawEngine.start(t, answersWell)
    const stage = await GatewayStage.start(t, [engine, other], {
      config: { healthIntervalMs: 1_000 },
      timeScale: 10,
    })
    const client = stage.chat(streaming)
    await client.until('t2.')
    engine.refuseAndCloseIdle()
    const { body, whole } = await seenBy(client)
    assert.match(body, /data: \{"error":\{.*"code":"upstream_broken".*\}\}\n\n$/)
    assert.ok(!whole)
    const [status] = (await stage.status()).endpoints
    assert.equal(status!.inFlight, 0)
    assert.equal(status!.reason, 'connection refused')
    assert.equal(await stage.metric('warmpath_requests_total', 'outcome="failed"'), 1)
    await engine.calls[0]!.closed()
  },
)

test(
  'F140: an error event before [DONE] is relayed, and counts against the engine',
  timeout,
  async (t) => {
    const error = 'data: {"error":{"message":"EngineCore died","type":"x","code":500}}\n\n'
    const sent = [...tokens(2), error, 'data: [DONE]\n\n']
    const engine = await RawEngine.start(t, (call) => {
      sends(sent)(call)
      call.endChunks()
    })
    const stage = await GatewayStage.start(t, [engine])
    for (let i = 0; i < 3; i++) {
      const { body, whole } = await seenBy(stage.chat(streaming))
      assert.equal(body, sent.join(''))
      assert.ok(whole)
    }
    assert.equal(await stage.metric('warmpath_requests_total', 'outcome="failed"'), 3)
    assert.equal(await stage.metric('warmpath_requests_total', 'outcome="done"'), 0)
    assert.match(
      (await stage.reasons())[0]!,
      /ejected for .*: 3 requests failed in a row: error event/,
    )
  },
)

/** F127: comments while the first token is awaited, and what they commit the router to. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayStage } from '../support/gateway-stage.ts'
import { answersWell, lastEvents, RawEngine, tokenEvent } from '../support/raw-engine.ts'
import { headerIn, seenBy } from '../support/seen-by-client.ts'

const config = { sseKeepAliveMs: 500 }
const options = { config, timeScale: 20 }
const streaming = { stream: true }

test('F127: before the engine’s head, and between its head and the first token', async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine], options)
  const client = stage.chat(streaming)
  await client.until(': waiting\n\n')
  const call = (await engine.call(0)).beginStream()
  client.take()
  await client.until(': waiting\n\n')
  call.chunk(tokenEvent('one'))
  await client.until('one')
  client.take()
  await stage.logged('endpoint.up')
  call.chunk(lastEvents).endChunks()
  const { text } = await client.over()
  assert.doesNotMatch(text, /waiting/, 'none once tokens flow')
})

test('F127: the engine’s own head is used where it has come', async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine], options)
  const client = stage.chat(streaming)
  const call = await engine.call(0)
  call.begin(200, ['content-type: text/event-stream', 'x-engine: 1'], null)
  await client.until(': waiting\n\n')
  call.chunk(lastEvents).endChunks()
  const { head, whole } = await seenBy(client)
  assert.ok(whole)
  assert.equal(headerIn(head, 'x-engine'), '1')
})

for (const [path, shape] of [
  ['/v1/chat/completions', /data: \{"error":\{"message":"too long","type":.*\}\}\n\n$/],
  [
    '/v1/messages',
    /event: error\ndata: \{"type":"error","error":\{.*"message":"too long"\}.*\n\n$/,
  ],
] as const) {
  test(`an error of the engine behind comments is told as an event: ${path}`, async (t) => {
    const engine = await RawEngine.start(t)
    const stage = await GatewayStage.start(t, [engine], options)
    const client = stage.chat(streaming, { path })
    await client.until(': waiting\n\n')
    ;(await engine.call(0)).answer(400, '{"error":{"message":"too long","code":400}}')
    const { status, body, whole } = await seenBy(client)
    assert.equal(status, 200)
    assert.match(body, shape)
    assert.equal(whole, false)
    assert.equal(await stage.metric('warmpath_requests_total', 'outcome="failed"'), 1)
  })
}

test('a refusal behind comments is not sent elsewhere: a byte has reached the client', async (t) => {
  const [engine, other] = [await RawEngine.start(t), await RawEngine.start(t, answersWell)]
  const stage = await GatewayStage.start(t, [engine, other], options)
  const client = stage.chat(streaming)
  await client.until(': waiting\n\n')
  ;(await engine.call(0)).answer(503, '{"detail":"busy"}')
  const { body } = await seenBy(client)
  assert.match(body, /data: \{"error":\{"message":"busy"/)
  assert.equal(other.calls.length, 0)
})

test('an engine that dies behind comments is told as an event', async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine], options)
  const client = stage.chat(streaming)
  await client.until(': waiting\n\n')
  // A kept connection that dies is tried once more on a new one.
  engine.script = (call) => call.reset()
  ;(await engine.call(0)).reset()
  assert.match((await seenBy(client)).body, /data: \{"error":\{"message":.*upstream_broken.*\n\n$/)
})

test('an answer that does not stream has none', async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine], options)
  const client = stage.chat()
  const call = await engine.call(0)
  await new Promise((resolve) => setTimeout(resolve, 100))
  answersWell(call)
  assert.doesNotMatch((await client.over()).text, /waiting/)
})

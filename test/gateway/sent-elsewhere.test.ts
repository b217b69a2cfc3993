/** What is tried again, where, and how often; and what passes through as the engine said it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfig } from '../../src/config/config.ts'
import { limits } from '../../src/core/limits.ts'
import { GatewayStage } from '../support/gateway-stage.ts'
import { answersWell, RawEngine, type Script, wholeAnswer } from '../support/raw-engine.ts'
import { headerIn, seenBy } from '../support/seen-by-client.ts'

const timeout = { timeout: 20_000 }

/** Engines in general notice an abort late; only those of this kind are trusted to act on it. */
const slowToAbort = (engines: readonly RawEngine[]) => ({
  endpoints: engines.map(({ url }) => ({ url, engine: 'llama.cpp' as const })),
})

test(
  'F015: a broken connection is followed up elsewhere, its work stays counted',
  timeout,
  async (t) => {
    const engine = await RawEngine.start(t, (call) => call.reset())
    const other = await RawEngine.start(t, answersWell)
    const stage = await GatewayStage.start(t, [engine, other], {
      config: { ...slowToAbort([engine, other]), upstreamIdleMs: 0 },
    })
    const { body } = await seenBy(stage.chat())
    assert.equal(body, wholeAnswer('well'))
    assert.deepEqual([engine.calls.length, other.calls.length], [1, 1])
    const { endpoints } = await stage.status()
    assert.deepEqual(
      endpoints.map(({ inFlight }) => inFlight),
      [1, 0],
    )
  },
)

test('F015: what may still run is not begun a second time', timeout, async (t) => {
  const engine = await RawEngine.start(t)
  const other = await RawEngine.start(t, answersWell)
  const stage = await GatewayStage.start(t, [engine, other], { config: { firstByteTimeoutMs: 50 } })
  const { status, body } = await seenBy(stage.chat())
  assert.equal(status, 504)
  assert.equal(JSON.parse(body).error.code, 'upstream_timeout')
  assert.deepEqual([engine.calls.length, other.calls.length], [1, 0])
  await engine.calls[0]!.closed()
})

test('at most three engines see one request', timeout, async (t) => {
  const breaks: Script = (call) => call.reset()
  const engines = await Promise.all([1, 2, 3, 4].map(() => RawEngine.start(t, breaks)))
  const stage = await GatewayStage.start(t, engines, { config: { upstreamIdleMs: 0 } })
  const { status, body } = await seenBy(stage.chat())
  assert.equal(status, 502)
  assert.equal(JSON.parse(body).error.code, 'upstream_broken')
  const calls = engines.map((engine) => engine.calls.length)
  assert.deepEqual(calls, [1, 1, 1, 0])
  assert.equal(limits.attemptsMax, 3)
})

const storingCalls = [
  ['/v1/responses', { input: 'hi' }],
  ['/v1/responses', { input: 'hi', store: false, background: true }],
  ['/v1/chat/completions', { store: true }],
  ['/v1/batches', { input_file_id: 'file-1' }],
  ['/v1/files', { purpose: 'batch' }],
] as const

for (const [path, fields] of storingCalls) {
  test(`${path} ${JSON.stringify(fields)} stores something: sent once`, timeout, async (t) => {
    const breaks: Script = (call) => call.reset()
    const engines = await Promise.all([1, 2].map(() => RawEngine.start(t, breaks)))
    const stage = await GatewayStage.start(t, engines)
    const { status } = await seenBy(stage.chat(fields, { path }))
    assert.equal(status, 502)
    const calls = engines.map((engine) => engine.calls.length)
    assert.deepEqual(calls, [1, 0])
  })
}

for (const status of [429, 503]) {
  test(
    `${status} before anything was processed: elsewhere, else as it came`,
    timeout,
    async (t) => {
      const busy = `{"error":{"message":"busy é","type":"x","code":${status}}}`
      const engine = await RawEngine.start(t, (call) =>
        call.answer(status, busy, ['retry-after: 7', 'x-queue-depth: 99']),
      )
      const other = await RawEngine.start(t, answersWell)
      const pair = await GatewayStage.start(t, [engine, other])
      assert.equal((await seenBy(pair.chat())).body, wholeAnswer('well'))
      assert.deepEqual([engine.calls.length, other.calls.length], [1, 1])
      assert.match((await pair.reasons())[0]!, /^asked to be left alone for [67]\.\d s$/)

      const alone = await GatewayStage.start(t, [engine])
      const seen = await seenBy(alone.chat())
      assert.equal(seen.status, status)
      assert.equal(seen.body, busy)
      assert.equal(headerIn(seen.head, 'retry-after'), '7')
      assert.equal(headerIn(seen.head, 'x-queue-depth'), '99')
      assert.ok(seen.whole)
    },
  )
}

test(
  '400, 404 and 422 pass through untouched, and say nothing of the endpoint',
  timeout,
  async (t) => {
    let status = 400
    const words = '{ "error" : {"message":"bad \\u00e9", "code": null} }\n'
    const engine = await RawEngine.start(t, (call) => call.answer(status, words, ['x-why: it is']))
    const other = await RawEngine.start(t, answersWell)
    const stage = await GatewayStage.start(t, [engine, other], {
      config: { endpoints: [{ url: engine.url }, { url: other.url }], policy: 'prefix-only' },
    })
    // Whoever has the prefix gets it: the failing engine is asked again and again.
    other.script = engine.script
    for (let i = 0; i < 30; i++) {
      status = [400, 404, 422][i % 3]!
      const seen = await seenBy(stage.chat({ stream: i % 2 === 0 }))
      assert.deepEqual([seen.status, seen.body, seen.whole], [status, words, true])
      assert.equal(headerIn(seen.head, 'x-why'), 'it is')
    }
    assert.equal(engine.calls.length + other.calls.length, 30)
    assert.deepEqual(await stage.reasons(), ['ready', 'ready'])
  },
)

test('once the retry budget is spent, an outage is passed through', timeout, async (t) => {
  const busy: Script = (call) => call.answer(503, '{"error":{"message":"busy"}}')
  const engines = await Promise.all([1, 2].map(() => RawEngine.start(t, busy)))
  const stage = await GatewayStage.start(t, engines, { config: { retryBudgetRatio: 0 } })
  const calls = (): number => engines.reduce((sum, engine) => sum + engine.calls.length, 0)
  for (let i = 0; i < 30; i++) {
    const { status, body } = await seenBy(stage.chat())
    assert.deepEqual([status, body], [503, '{"error":{"message":"busy"}}'])
  }
  const spent = calls()
  assert.ok(spent > 30, 'some were sent twice')
  for (let i = 0; i < 10; i++) assert.equal((await seenBy(stage.chat())).status, 503)
  assert.equal(calls(), spent + 10)
})

test(
  'F024: an idle close that crosses a request costs one fresh connection',
  timeout,
  async (t) => {
    // The connection that the probes left open carries the request first.
    const engine = await RawEngine.start(t, (call) =>
      call.reused ? call.close() : answersWell(call),
    )
    const other = await RawEngine.start(t, answersWell)
    const stage = await GatewayStage.start(t, [engine, other])
    const { body, head } = await seenBy(stage.chat())
    assert.equal(body, wholeAnswer('well'))
    assert.equal(headerIn(head, 'x-warmpath-endpoint'), engine.url)
    assert.deepEqual([engine.calls.length, other.calls.length], [2, 0])
    assert.equal(await stage.metric('warmpath_attempt_failures_total'), 0)
    assert.ok(defaultConfig.upstreamIdleMs < 5_000, 'below the 5 s of uvicorn')
  },
)

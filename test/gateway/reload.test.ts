/** The configuration read again while the router runs: who comes, who leaves, what changes. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { GatewayStage } from '../support/gateway-stage.ts'
import {
  answersWell,
  type EngineCall,
  lastEvents,
  RawEngine,
  tokenEvent,
} from '../support/raw-engine.ts'
import { seenBy } from '../support/seen-by-client.ts'

/** Two engines, each of which begins a stream and says no more. */
async function twoStreaming(t: TestContext, config: Partial<Config> = {}) {
  const begins = (call: EngineCall) => call.beginStream().chunk(tokenEvent('one'))
  const [a, b] = [await RawEngine.start(t, begins), await RawEngine.start(t, begins)]
  const stage = await GatewayStage.start(t, [a, b], {
    config: { drainTimeoutMs: 60_000, healthIntervalMs: 100, ...config },
  })
  return { a, b, stage, both: [{ url: a.url }, { url: b.url }] }
}

const spec = ({ url }: RawEngine) => ({ url })

describe('an endpoint that is taken out of the file', () => {
  test('F028: gets nothing new, finishes what it has, and is gone then', async (t) => {
    const { a, b, stage } = await twoStreaming(t)
    const stream = stage.chat({ stream: true })
    await stream.until('one')
    stage.without(a)
    assert.deepEqual(await stage.reasons(), ['draining', 'ready'])
    b.script = answersWell
    for (let i = 0; i < 4; i++) assert.equal((await seenBy(stage.chat())).status, 200)
    assert.equal(a.calls.length, 1)
    a.calls[0]!.chunk(lastEvents).endChunks()
    assert.equal((await seenBy(stream)).whole, true)
    await stage.logged('endpoint.left')
    const { endpoints } = await stage.status()
    assert.deepEqual(
      endpoints.map(({ url }) => url),
      [b.url],
    )
    assert.equal(await stage.metric('warmpath_attempts_total', a.url), 0)
    await a.calls[0]!.closed()
  })

  test('F037: is not probed any more', async (t) => {
    const { a, b, stage } = await twoStreaming(t)
    stage.without(a)
    await stage.logged('endpoint.left')
    const [probesOfA, probesOfB] = [a.probes, b.probes]
    await b.when(() => b.probes >= probesOfB + 3)
    // One may have been on its way.
    assert.ok(a.probes <= probesOfA + 1, `${a.probes - probesOfA} probes`)
  })

  test('that comes back in time stays, with what it has', async (t) => {
    const { a, b, stage, both } = await twoStreaming(t)
    const stream = stage.chat({ stream: true })
    await stream.until('one')
    stage.without(a)
    stage.reload({ endpoints: both })
    assert.deepEqual(await stage.reasons(), ['ready', 'ready'])
    a.calls[0]!.chunk(lastEvents).endChunks()
    assert.equal((await seenBy(stream)).whole, true)
    a.script = answersWell
    b.script = answersWell
    for (let i = 0; i < 2; i++) await seenBy(stage.chat())
    assert.deepEqual([a.calls.length, b.calls.length], [2, 1])
    assert.equal(stage.lines.filter(({ event }) => event === 'endpoint.left').length, 0)
  })

  test('F048: that comes back later is a new one', async (t) => {
    const { a, stage, both } = await twoStreaming(t, { drainTimeoutMs: 0 })
    const stream = stage.chat({ stream: true })
    await stream.until('one')
    stage.without(a)
    await stream.over()
    await stage.logged('endpoint.left')
    stage.reload({ endpoints: both })
    const status = await stage.statusWhen(({ endpoints }) => endpoints.every((one) => one.routable))
    assert.deepEqual(
      status.endpoints.map(({ inFlight }) => inFlight),
      [0, 0],
    )
  })

  test('F088: is forgotten as the holder of what it stored', async (t) => {
    const stores = (call: EngineCall) => call.answer(200, '{"id":"resp_1","object":"response"}')
    const engines = [await RawEngine.start(t, stores), await RawEngine.start(t, stores)]
    const third = await RawEngine.start(t, stores)
    const stage = await GatewayStage.start(t, [...engines, third])
    await seenBy(stage.chat({ input: 'hello' }, { path: '/v1/responses' }))
    const [holder] = engines
    assert.equal(holder!.calls.length, 1)
    assert.equal((await seenBy(stage.request('GET /v1/responses/resp_1'))).status, 200)
    stage.without(holder!)
    await stage.logged('endpoint.left')
    const seen = await seenBy(stage.request('GET /v1/responses/resp_1'))
    assert.equal(seen.status, 404)
    assert.match(seen.body, /response_not_found/)
  })

  test('F116: keeps its realtime connections until its time is up', async (t) => {
    const switches = (call: EngineCall) =>
      call.write('HTTP/1.1 101 S\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n')
    const engine = await RawEngine.start(t, switches)
    const other = await RawEngine.start(t)
    const config = { drainTimeoutMs: 2_000 }
    const stage = await GatewayStage.start(t, [engine, other], { config, timeScale: 10 })
    const client = stage
      .client()
      .send(
        'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      )
    await client.until('\r\n\r\n')
    stage.without(engine)
    client.send('ping')
    const { connection } = await engine.call(0)
    await stage.statusWhen(() => connection.received === 'ping')
    await client.over()
    await connection.closed()
    await stage.logged('endpoint.left')
  })
})

test('an endpoint that is new in the file serves', async (t) => {
  const [a, b] = [await RawEngine.start(t, answersWell), await RawEngine.start(t, answersWell)]
  const stage = await GatewayStage.start(t, [a])
  stage.reload({ endpoints: [spec(a), spec(b)] })
  await stage.logged('endpoint.up', 2)
  for (let i = 0; i < 2; i++) await seenBy(stage.chat())
  assert.deepEqual([a.calls.length, b.calls.length], [1, 1])
})

test('what the file says of an endpoint changes what is routed there, and not its work', async (t) => {
  const { a, b, stage, both } = await twoStreaming(t)
  const stream = stage.chat({ stream: true })
  await stream.until('one')
  stage.reload({ endpoints: [{ url: a.url, models: ['x'] }, spec(b)] })
  const models = async () => (await stage.status()).endpoints.map((one) => one.models.join())
  assert.deepEqual(await models(), ['x', 'm'])
  assert.equal((await stage.status()).endpoints[0]!.inFlight, 1)
  a.calls[0]!.chunk(lastEvents).endChunks()
  assert.equal((await seenBy(stream)).whole, true)
  stage.reload({ endpoints: both })
  await stage.statusWhen(({ endpoints }) => endpoints[0]!.models.join() === 'm')
})

test('options are taken over, or named where they wait for a restart', async (t) => {
  const engine = await RawEngine.start(t, answersWell)
  const stage = await GatewayStage.start(t, [engine])
  stage.reload({ aliases: { nick: 'm' }, maxBodyBytes: 1_000, port: 1, logLevel: 'debug' })
  const { fields, level } = await stage.logged('config.reloaded')
  assert.deepEqual(
    [level, fields.changed, fields.needRestart],
    ['warn', 'aliases,maxBody', 'port,logLevel'],
  )
  const { config } = await stage.status()
  assert.deepEqual(config, {
    reloads: { applied: 1, refused: 0 },
    problem: null,
    needRestart: ['port', 'logLevel'],
  })
  assert.equal((await seenBy(stage.chat({ model: 'nick' }))).status, 200)
  assert.match(engine.calls[0]!.body, /"model":"m"/)
  assert.equal((await seenBy(stage.chat({ user: 'x'.repeat(1_000) }))).status, 413)
})

test('a file with a mistake changes nothing, and the mistake is shown with its place', async (t) => {
  const engine = await RawEngine.start(t, answersWell)
  const stage = await GatewayStage.start(t, [engine])
  const file = { name: 'warmpath.yaml', text: 'endpoints: []\nretriesMax: many\n' }
  stage.gateway.reload(loadConfig({ flags: {}, env: {}, file }))
  const { fields } = await stage.logged('config.rejected')
  assert.match(String(fields.why), /^warmpath\.yaml:2:1: retriesMax expects a whole number/)
  const { config } = await stage.status()
  assert.match(config.problem!, /^warmpath\.yaml:2:1: retriesMax expects/)
  assert.equal(await stage.metric('warmpath_config_reloads_total', 'refused'), 1)
  assert.equal((await seenBy(stage.chat())).status, 200)
  stage.reload({})
  assert.equal((await stage.status()).config.problem, null)
})

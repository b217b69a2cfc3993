/** Engines that stop, come back, are replaced, or take minutes to load. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { healthRules } from '../../src/core/fleet/health.ts'
import { GatewayStage } from '../support/gateway-stage.ts'
import { answersWell, RawEngine, wholeAnswer } from '../support/raw-engine.ts'
import { seenBy } from '../support/seen-by-client.ts'

const timeout = { timeout: 30_000 }
const well = wholeAnswer('well')

/** Of an engine that started at this time (s since 1970). */
const metricsPage = (startedS: number, queriedTokens: number): string =>
  [
    'vllm:num_requests_running{engine="0",model_name="m"} 0',
    'vllm:num_requests_waiting{engine="0",model_name="m"} 0',
    `vllm:prefix_cache_queries_total{engine="0",model_name="m"} ${queriedTokens}`,
    `process_start_time_seconds ${startedS}`,
    '',
  ].join('\n')

test('F031: stopped beyond every threshold, and back: it serves within 2 s', timeout, async (t) => {
  const engine = await RawEngine.start(t, answersWell)
  const stage = await GatewayStage.start(t, [engine], { config: { healthIntervalMs: 1_000 } })
  assert.equal((await seenBy(stage.chat())).body, well)
  engine.stop()
  const down = await seenBy(stage.chat())
  assert.ok(down.status === 502 || down.status === 503, `${down.status}`)
  const failed = (): Promise<number> => stage.metric('warmpath_probe_failures_total')
  while ((await failed()) <= healthRules.probeFailuresMax) await wait(20)
  const { ready, endpoints } = await stage.status()
  assert.deepEqual([ready, endpoints[0]!.reason], [false, 'connection refused'])
  const refused = await seenBy(stage.chat())
  assert.equal(refused.status, 503)
  assert.match(JSON.parse(refused.body).error.message, /connection refused/)

  const up = stage.logged('endpoint.up', 2)
  await engine.listen()
  const late = wait(2_000, 'late', { signal: AbortSignal.timeout(4_000) }).catch(() => 'late')
  assert.notEqual(await Promise.race([up, late]), 'late')
  assert.equal((await seenBy(stage.chat())).body, well)
})

test('F031: an engine that was never there is used when it comes', timeout, async (t) => {
  const engine = await RawEngine.start(t, answersWell)
  engine.stop()
  const stage = await GatewayStage.start(t, [engine], { config: { healthIntervalMs: 1_000 } })
  assert.equal((await seenBy(stage.chat())).status, 503)
  await engine.listen()
  await stage.logged('endpoint.up')
  assert.equal((await seenBy(stage.chat())).body, well)
})

test(
  'F032: another process between two probes: nothing of the old one counts',
  timeout,
  async (t) => {
    const engine = await RawEngine.start(t, answersWell)
    engine.metrics = metricsPage(1_000, 500)
    const stage = await GatewayStage.start(t, [engine], { config: { scrapeIntervalMs: 50 } })
    const messages = [{ role: 'user', content: 'x'.repeat(20_000) }]
    assert.equal((await seenBy(stage.chat({ messages }))).body, well)
    engine.script = () => {}
    const hanging = stage.chat({ messages })
    await engine.call(1)
    engine.script = (call) => call.answer(500, '{}')
    for (let i = 0; i < healthRules.requestFailuresMax; i++) await seenBy(stage.chat())
    const [before] = (await stage.status()).endpoints
    assert.ok(before!.cachedTokens > 0)
    assert.equal(before!.inFlight, 1)
    assert.match(before!.reason, /ejected/)

    engine.metrics = metricsPage(2_000, 0)
    const after = await stage.statusWhen(({ counters }) => counters.restarts === 1)
    const [endpoint] = after.endpoints
    assert.equal(endpoint!.cachedTokens, 0)
    assert.equal(endpoint!.inFlight, 0)
    assert.equal(endpoint!.reason, 'ready')
    assert.notEqual(endpoint!.instanceId, before!.instanceId)

    // The end of what the old process was asked for says nothing about the new one.
    hanging.close()
    engine.script = answersWell
    assert.equal((await seenBy(stage.chat())).body, well)
    await stage.statusWhen(({ endpoints }) => endpoints[0]!.inFlight === 0)
  },
)

test('F043: a load of two minutes before the first byte is waited for', timeout, async (t) => {
  const timeScale = 200
  const loadMs = 120_000
  const engine = await RawEngine.start(t, async (call) => {
    // Nothing else is answered while the model loads.
    engine.healthStatus = null
    await wait(loadMs / timeScale)
    engine.healthStatus = 200
    answersWell(call)
  })
  const stage = await GatewayStage.start(t, [engine], {
    timeScale,
    config: { healthIntervalMs: 10_000 },
  })
  for (const stream of [true, false]) {
    const before = (await stage.status()).uptimeMs
    const { status, whole } = await seenBy(stage.chat({ stream }))
    assert.deepEqual([status, whole], [200, true])
    assert.ok((await stage.status()).uptimeMs - before >= loadMs)
  }
  assert.equal(engine.calls.length, 2, 'no load was given up and begun again')
  assert.ok((await stage.metric('warmpath_probe_failures_total')) > healthRules.probeFailuresMax)
})

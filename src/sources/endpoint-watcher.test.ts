import assert from 'node:assert/strict'
import test from 'node:test'
import { ScriptedEngine, vllmAnswers } from '../../test/support/scripted-engine.ts'
import { WatchStage, watched } from '../../test/support/watch-stage.ts'

test('an endpoint that answers is described before it is called healthy', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 1_700_000_000 }))
  stage.watch()
  await stage.pass(100)
  const [first, second] = stage.events
  assert.equal(first?.type, 'endpoint-described')
  const types = stage.events.map((event) => event.type)
  assert.ok(types.indexOf('endpoint-described') < types.indexOf('endpoint-probed'))
  assert.notEqual(second, undefined)
  const described = stage.of('endpoint-described').at(-1)!.description
  assert.equal(described.engine, 'vllm')
  assert.equal(described.version, '0.32.0')
  assert.equal(described.kvCapacityTokens, 16_000)
  assert.equal(described.instanceId, 'started 1700000000')
  assert.deepEqual(described.models, [{ id: 'm', parent: null, maxModelLen: 4096 }])
  assert.equal(stage.of('endpoint-probed')[0]!.healthy, true)
  assert.deepEqual(stage.fallbacks(), {})
})

test('what the operator declared outweighs what the engine says', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 1 }))
  const models = [{ id: 'mine', parent: null, maxModelLen: null }]
  stage.watch({ kvCapacityTokens: 5_000, models })
  await stage.pass(3_000)
  const described = stage.of('endpoint-described').at(-1)!.description
  assert.equal(described.kvCapacityTokens, 5_000)
  assert.deepEqual(described.models, models)
})

test('the description is told again only when something in it changed', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 1 }))
  stage.watch()
  await stage.pass(1_000)
  const before = stage.of('endpoint-described').length
  await stage.pass(30_000)
  assert.equal(stage.of('endpoint-described').length, before)
  const models = {
    data: [
      { id: 'm', owned_by: 'vllm' },
      { id: 'lora', parent: 'm' },
    ],
  }
  stage.engine.answers.set('/v1/models', { text: JSON.stringify(models) })
  await stage.pass(15_000)
  assert.equal(stage.of('endpoint-described').length, before + 1)
  const told = stage.of('endpoint-described').at(-1)!.description.models
  assert.deepEqual(
    told?.map((model) => model.id),
    ['m', 'lora'],
  )
})

test('signals come with each scrape, and null when one fails', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 1, running: 3 }))
  stage.watch()
  await stage.pass(5_000)
  const observed = stage.of('endpoint-observed')
  assert.ok(observed.length >= 4 && observed.length <= 7, `${observed.length} scrapes in 5 s`)
  assert.equal(observed.at(-1)!.signals?.running, 3)
  stage.engine.answers.set('/metrics', { status: 500 })
  await stage.pass(2_000)
  assert.equal(stage.of('endpoint-observed').at(-1)!.signals, null)
  assert.deepEqual(stage.fallbacks(), {}, 'a failure in passing is no fallback')
})

test('the key goes with every probe, and into no line of the log', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 1 }))
  stage.watch({}, 'sk-secret')
  await stage.pass(3_000)
  stage.engine.failure = 'refused'
  await stage.pass(3_000)
  for (const { headers } of stage.engine.asked) {
    assert.equal(headers[headers.indexOf('Authorization') + 1], 'Bearer sk-secret')
  }
  assert.ok(!JSON.stringify(stage.lines).includes('sk-secret'))
})

test('F031: probing never stops, and an endpoint that returns serves within 2 s', async () => {
  for (const downMs of [300, 5_000, 61_000, 600_000]) {
    const stage = new WatchStage()
    stage.answer(vllmAnswers({ startedAt: 1 }))
    stage.watch()
    await stage.pass(1_500)
    stage.engine.failure = 'refused'
    await stage.pass(downMs)
    // So short an absence may fall between two probes.
    const seen = downMs > 1_100 ? 'connection refused' : 'ready'
    assert.equal(stage.of('endpoint-probed').at(-1)!.reason, seen)
    stage.engine.failure = null
    stage.answer(vllmAnswers({ startedAt: 2 }))
    const backAtMs = stage.scheduler.nowMs()
    await stage.pass(2_000)
    const healthy = stage.of('endpoint-probed').find((e) => e.healthy && e.atMs >= backAtMs)
    assert.ok(healthy !== undefined, `down for ${downMs} ms: not healthy within 2 s`)
  }
})

test('F031: back-off is bounded: a dead endpoint is asked about once a second', async () => {
  const stage = new WatchStage()
  stage.engine.failure = 'refused'
  stage.watch()
  await stage.pass(60_000)
  const probes = stage.engine.count('/health')
  assert.ok(probes >= 55 && probes <= 75, `${probes} probes in a minute`)
  assert.equal(stage.warnings('endpoint.down').length, 1, 'one line, not one for each probe')
})

test('F033: a slow health answer is reported as slow, not as death', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 1 }))
  stage.watch()
  await stage.pass(1_000)
  stage.engine.answers.set('/health', { delayMs: 20_000 })
  await stage.pass(30_000)
  const last = stage.of('endpoint-probed').at(-1)!
  assert.equal(last.healthy, false)
  assert.match(last.reason, /within 5000 ms/)
  assert.ok(stage.of('endpoint-observed').at(-1)!.signals !== null, 'its load is still read')
  stage.engine.answers.set('/health', {})
  await stage.pass(7_000)
  assert.equal(stage.of('endpoint-probed').at(-1)!.healthy, true)
  assert.equal(stage.instances.length, 1, 'it was busy, not restarted')
})

test('F037: after removal nothing is asked or told, whatever was on its way', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 1 }))
  stage.engine.answers.set('/health', { delayMs: 400 })
  stage.watch()
  await stage.pass(1_000)
  stage.watcher.remove(watched)
  const { length } = stage.events
  const asked = stage.engine.asked.length
  await stage.pass(60_000)
  assert.equal(stage.events.length, length)
  assert.equal(stage.engine.asked.length, asked)
  assert.equal(stage.scheduler.pending, 0, 'no timer is left behind')
})

test('F037: an endpoint that is added again has one set of loops', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 1 }))
  for (let i = 0; i < 5; i++) {
    stage.watch()
    await stage.pass(700)
  }
  const before = stage.engine.count('/health')
  await stage.pass(10_000)
  const probes = stage.engine.count('/health') - before
  assert.ok(probes >= 9 && probes <= 12, `${probes} probes in 10 s`)
  assert.equal(stage.watcher.size, 1)
})

test('a hint brings the next probe forward, but not without bound', async () => {
  const stage = new WatchStage({ healthIntervalMs: 60_000 })
  stage.answer(vllmAnswers({ startedAt: 1 }))
  stage.watch()
  await stage.pass(1_000)
  stage.engine.failure = 'refused'
  stage.watcher.probeSoon(watched)
  await stage.pass(20)
  assert.equal(stage.of('endpoint-probed').at(-1)!.healthy, false)
  stage.engine.failure = null
  await stage.pass(2_000)
  const before = stage.engine.count('/health')
  for (let i = 0; i < 100; i++) {
    stage.watcher.probeSoon(watched)
    await stage.pass(10)
  }
  assert.ok(stage.engine.count('/health') - before <= 11)
})

test('many endpoints do not tick together', async () => {
  const stage = new WatchStage()
  const engines = Array.from({ length: 20 }, () => new ScriptedEngine(stage.scheduler))
  for (const [i, engine] of engines.entries()) {
    for (const [path, answer] of vllmAnswers({ startedAt: 1 })) engine.answers.set(path, answer)
    const target = { endpoint: `http://e${i}`, fetch: engine.fetch, apiKey: null, declared: {} }
    stage.watcher.add(target)
  }
  await stage.pass(20_000)
  const scrapes = engines.flatMap((engine) =>
    engine.asked.filter((one) => one.path === '/metrics' && one.atMs > 11_000),
  )
  const perTick = new Map<number, number>()
  for (const { atMs } of scrapes) {
    const tick = Math.floor(atMs / 100)
    perTick.set(tick, (perTick.get(tick) ?? 0) + 1)
  }
  assert.ok(Math.max(...perTick.values()) < 10, 'half of the endpoints in one tenth of a second')
})

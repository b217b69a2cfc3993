import assert from 'node:assert/strict'
import test from 'node:test'
import { vllmAnswers } from '../../test/support/scripted-engine.ts'
import { WatchStage } from '../../test/support/watch-stage.ts'

test('F032: a process that was replaced between two probes has another identity', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 100 }))
  stage.watch()
  await stage.pass(2_500)
  stage.answer(vllmAnswers({ startedAt: 200 }))
  await stage.pass(2_500)
  assert.ok(stage.of('endpoint-probed').every((event) => event.healthy))
  assert.deepEqual(stage.instances, ['started 100', 'started 200'])
  assert.equal(stage.warnings('endpoint.restarted').length, 1)
})

test('F032: after a refused probe the new identity comes before the verdict', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 100 }))
  stage.watch()
  await stage.pass(2_500)
  stage.engine.failure = 'refused'
  await stage.pass(1_500)
  stage.engine.failure = null
  stage.answer(vllmAnswers({ startedAt: 200 }))
  const { length } = stage.events
  await stage.pass(5_000)
  const news = stage.events.slice(length).map((event) => event.type)
  assert.ok(news.indexOf('endpoint-described') >= 0)
  assert.ok(news.indexOf('endpoint-described') < news.indexOf('endpoint-probed'))
  assert.deepEqual(stage.instances, ['started 100', 'started 200'])
  assert.equal(stage.warnings('endpoint.restarted').length, 1)
})

test('F032: one that was out of reach for a while and is the same process is not restarted', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 100 }))
  stage.watch()
  await stage.pass(2_500)
  stage.engine.failure = 'unreachable'
  await stage.pass(5_000)
  stage.engine.failure = null
  await stage.pass(5_000)
  assert.equal(stage.of('endpoint-probed').at(-1)!.healthy, true)
  assert.deepEqual(stage.instances, ['started 100'])
})

test('F032: without any identity, a refused connection in between means another process', async () => {
  const stage = new WatchStage()
  const answers = vllmAnswers({ startedAt: 1 })
  answers.delete('/metrics')
  stage.answer(answers)
  stage.watch()
  await stage.pass(2_500)
  stage.engine.failure = 'refused'
  await stage.pass(2_000)
  stage.engine.failure = null
  await stage.pass(2_000)
  assert.deepEqual(stage.instances, ['run 1', 'run 2'])
})

test('F032: a start time that becomes known late is no restart', async () => {
  const stage = new WatchStage()
  const answers = vllmAnswers({ startedAt: 100 })
  stage.answer(new Map([...answers, ['/metrics', { status: 500 }]]))
  stage.watch()
  await stage.pass(3_000)
  stage.answer(answers)
  await stage.pass(3_000)
  assert.deepEqual(stage.instances, ['run 1'])
  stage.answer(vllmAnswers({ startedAt: 200 }))
  await stage.pass(3_000)
  assert.deepEqual(stage.instances, ['run 1', 'started 200'])
})

test('F032: without a start time a counter that goes backwards tells', async () => {
  const stage = new WatchStage()
  const withoutStart = (queriedTokens: number): void => {
    const answers = vllmAnswers({ startedAt: 1, queriedTokens })
    const text = answers.get('/metrics')!.text!.replace(/process_start.*\n/, '')
    stage.answer(answers.set('/metrics', { text }))
  }
  withoutStart(50_000)
  stage.watch()
  await stage.pass(2_500)
  withoutStart(60_000)
  await stage.pass(2_500)
  assert.equal(stage.instances.length, 1)
  withoutStart(1_000)
  await stage.pass(2_500)
  assert.equal(stage.instances.length, 2)
  assert.equal(stage.fallbacks()['restart-unseen'], 2, 'told once for each process')
})

test('F032: several processes that answer in turn are not taken for restarts', async () => {
  const stage = new WatchStage()
  stage.answer(vllmAnswers({ startedAt: 100 }))
  stage.watch()
  for (let i = 0; i < 10; i++) {
    await stage.pass(2_000)
    stage.answer(vllmAnswers({ startedAt: i % 2 === 0 ? 101 : 100 }))
  }
  assert.deepEqual(stage.instances, ['started 100', 'started 101'])
})

for (const name of ['vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc']) {
  test(`F044: KV usage is read as ${name}`, async () => {
    const stage = new WatchStage()
    const answers = vllmAnswers({ startedAt: 1 })
    const text = answers.get('/metrics')!.text!.replace('vllm:kv_cache_usage_perc', name)
    stage.answer(answers.set('/metrics', { text }))
    stage.watch()
    await stage.pass(2_000)
    assert.equal(stage.of('endpoint-observed').at(-1)!.signals?.kvUsage, 0.25)
    assert.deepEqual(stage.fallbacks(), {})
  })
}

test('F044: a metric under a name that nobody knows is unknown, and said once', async () => {
  const stage = new WatchStage()
  const answers = vllmAnswers({ startedAt: 1, running: 2 })
  const text = answers.get('/metrics')!.text!.replace('kv_cache_usage_perc', 'kv_usage_new_name')
  stage.answer(answers.set('/metrics', { text }))
  stage.watch()
  await stage.pass(20_000)
  const { signals } = stage.of('endpoint-observed').at(-1)!
  assert.equal(signals?.kvUsage, null)
  assert.equal(signals?.running, 2)
  assert.deepEqual(stage.fallbacks(), { 'metrics-partial': 1 })
  assert.match(String(stage.warnings('fallback.metrics-partial')[0]!.fields.detail), /kvUsage/)
})

test('F045: a metrics path that is not there is counted and warned of once, then rarely asked', async () => {
  const stage = new WatchStage()
  const answers = vllmAnswers({ startedAt: 1 })
  answers.delete('/metrics')
  stage.answer(answers)
  stage.watch()
  await stage.pass(120_000)
  assert.equal(stage.fallbacks()['metrics-missing'], 1)
  assert.equal(stage.warnings('fallback.metrics-missing').length, 1)
  assert.ok(stage.engine.count('/metrics') < 12, `${stage.engine.count('/metrics')} requests`)
})

test('F045: a page that comes back and goes again is warned of again', async () => {
  const stage = new WatchStage()
  const answers = vllmAnswers({ startedAt: 1 })
  const page = answers.get('/metrics')!
  stage.answer(answers)
  stage.watch()
  for (let i = 0; i < 2; i++) {
    stage.engine.answers.set('/metrics', { status: 404 })
    await stage.pass(5_000)
    stage.engine.answers.set('/metrics', page)
    await stage.pass(70_000)
  }
  assert.equal(stage.warnings('fallback.metrics-missing').length, 2)
})

test('F051: an endpoint without metrics is healthy at once, with nothing made up', async () => {
  const stage = new WatchStage()
  const answers = vllmAnswers({ startedAt: 1 })
  answers.delete('/metrics')
  stage.answer(answers)
  stage.watch()
  await stage.pass(50)
  assert.equal(stage.of('endpoint-probed')[0]?.healthy, true)
  assert.deepEqual(stage.of('endpoint-observed')[0]?.signals, null)
  const { description } = stage.of('endpoint-described').at(-1)!
  assert.equal(description.kvCapacityTokens, undefined)
  assert.equal(description.instanceId, 'run 1')
})

test('F051: one that keeps its metrics page waiting is not kept out for it', async () => {
  const stage = new WatchStage()
  const answers = vllmAnswers({ startedAt: 1 })
  stage.answer(answers.set('/metrics', { delayMs: 60_000 }))
  stage.watch()
  await stage.pass(600)
  assert.equal(stage.of('endpoint-probed')[0]?.healthy, true)
})

test('an engine that sleeps says so with its signals', async () => {
  const stage = new WatchStage()
  const answers = vllmAnswers({ startedAt: 1 })
  const asleep = 'vllm:engine_sleep_state{engine="0",sleep_state="awake"} 0\n'
  stage.answer(answers.set('/metrics', { text: answers.get('/metrics')!.text + asleep }))
  stage.watch()
  await stage.pass(1_000)
  assert.equal(stage.of('endpoint-observed').at(-1)!.signals?.asleep, true)
})

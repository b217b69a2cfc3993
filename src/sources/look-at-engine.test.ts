import assert from 'node:assert/strict'
import test from 'node:test'
import { ManualScheduler } from '../../test/support/manual-scheduler.ts'
import { ScriptedEngine, vllmAnswers } from '../../test/support/scripted-engine.ts'
import type { EndpointDescription } from '../core/fleet/endpoint.ts'
import { type EngineLook, lookAtEngine } from './look-at-engine.ts'

async function look(
  script: (engine: ScriptedEngine) => void,
  declared: EndpointDescription = {},
): Promise<EngineLook> {
  const scheduler = new ManualScheduler()
  const engine = new ScriptedEngine(scheduler)
  for (const [path, answer] of vllmAnswers({ startedAt: 1 })) engine.answers.set(path, answer)
  script(engine)
  const looked = lookAtEngine(engine.fetch, null, declared, scheduler)
  let done = false
  looked.finally(() => {
    done = true
  })
  while (!done) {
    scheduler.advance(100)
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }
  return looked
}

test('a sound engine has no problems', async () => {
  const found = await look(() => {})
  assert.deepEqual(found.problems, [])
  assert.equal(found.healthy, true)
  assert.equal(found.engine, 'vllm')
  assert.equal(found.kvCapacityTokens, 16_000)
  assert.match(found.notes.join(), /--enable-prompt-tokens-details/)
})

test('nobody there is said plainly, and nothing more is claimed', async () => {
  const found = await look((engine) => {
    engine.failure = 'refused'
  })
  assert.equal(found.reachable, false)
  assert.deepEqual(found.problems, ['It cannot be reached: connection refused.'])
})

test('an engine that loads is reachable but not healthy', async () => {
  const found = await look((engine) => {
    engine.answers.clear()
    const text = '{"error":{"code":503,"message":"Loading model"}}'
    engine.answers.set('/health', { status: 503, text })
  })
  assert.equal(found.reachable, true)
  assert.equal(found.healthy, false)
  assert.match(found.health, /loading the model/)
})

test('prefix caching that is off is a problem', async () => {
  const found = await look((engine) => {
    const { text } = engine.answers.get('/metrics')!
    const off = text!.replace('enable_prefix_caching="True"', 'enable_prefix_caching="False"')
    engine.answers.set('/metrics', { text: off })
  })
  assert.match(found.problems.join('\n'), /Prefix caching is off/)
})

test('a wrong key is named as such', async () => {
  const found = await look((engine) => engine.answers.set('/v1/models', { status: 401 }))
  assert.match(found.problems.join('\n'), /API key is missing or wrong/)
})

test('a missing metrics page comes with what to do about it', async () => {
  const found = await look((engine) => engine.answers.delete('/metrics'), { engine: 'sglang' })
  assert.match(found.problems.join('\n'), /status 404\. Start SGLang with --enable-metrics/)
})

test('what is declared is no problem when it is not reported', async () => {
  const bare = (engine: ScriptedEngine): void => {
    engine.answers.delete('/metrics')
    engine.answers.delete('/v1/models')
  }
  const models = [{ id: 'm', parent: null, maxModelLen: null }]
  const found = await look(bare, { kvCapacityTokens: 1_000, models })
  assert.equal(found.problems.length, 1)
  assert.match(found.problems[0]!, /load is not visible/)
  assert.equal((await look(bare)).problems.length, 3)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { golden } from '../../test/support/answers.ts'
import { readModelsList, renderModel, renderModelsList } from './models-list.ts'

const model = (id: string, maxModelLen: number | null = null, parent: string | null = null) => ({
  id,
  parent,
  maxModelLen,
})

test("vLLM's list names the engine, the model and its context limit", () => {
  const list = readModelsList(golden('vllm-0.32.0/models.json').toString())
  assert.deepEqual(list, { engine: 'vllm', models: [model('tiny', 32_768)] })
})

test('an adapter names its base model, and has no limit of its own', () => {
  const data = [
    { id: 'base', owned_by: 'vllm', parent: null, max_model_len: 4_096 },
    { id: 'adapter', owned_by: 'vllm', parent: 'base', max_model_len: null },
  ]
  const list = readModelsList(JSON.stringify({ object: 'list', data }))
  assert.deepEqual(list?.models, [model('base', 4_096), model('adapter', null, 'base')])
})

test('the owner tells the engine, where it is one', () => {
  const engine = (owned_by: unknown) =>
    readModelsList(JSON.stringify({ data: [{ id: 'm', owned_by }] }))?.engine
  assert.equal(engine('sglang'), 'sglang')
  assert.equal(engine('tensorrt_llm'), 'tensorrt-llm')
  assert.equal(engine('llamacpp'), 'llama.cpp')
  assert.equal(engine('library'), 'ollama')
  assert.equal(engine('meta'), 'unknown')
  assert.equal(engine(7), 'unknown')
})

test('what is no list is null, and what is no model is skipped', () => {
  for (const body of ['', '[]', '{}', '{"data":{}}']) assert.equal(readModelsList(body), null)
  const list = readModelsList('{"data":[null,{"id":""},{"id":5},{"id":"m"}]}')
  assert.deepEqual(list?.models, [model('m')])
})

test('the merged list has each id once, with the limit that every replica keeps', () => {
  const models = [model('b', 8_192), model('a'), model('b', 4_096), model('x', null, 'a')]
  const { object, data } = JSON.parse(renderModelsList(models, 'openai'))
  assert.equal(object, 'list')
  const told = data.map((one: Record<string, unknown>) => [one.id, one.max_model_len, one.parent])
  assert.deepEqual(told, [
    ['b', 4_096, null],
    ['a', null, null],
    ['x', null, 'a'],
  ])
  assert.ok(data.every((one: Record<string, unknown>) => one.object === 'model'))
})

test("Anthropic's clients get their own shape", () => {
  const list = JSON.parse(renderModelsList([model('a'), model('b'), model('a')], 'anthropic'))
  assert.deepEqual([list.has_more, list.first_id, list.last_id], [false, 'a', 'b'])
  assert.deepEqual(list.data[0], {
    type: 'model',
    id: 'a',
    display_name: 'a',
    created_at: '1970-01-01T00:00:00Z',
  })
  assert.equal(JSON.parse(renderModelsList([], 'anthropic')).first_id, null)
})

test('F113: one model is found by its id, slashes and all', () => {
  const models = [model('org/name', 4_096)]
  assert.equal(JSON.parse(renderModel(models, 'org/name', 'openai')!).id, 'org/name')
  assert.equal(JSON.parse(renderModel(models, 'org/name', 'anthropic')!).type, 'model')
  assert.equal(renderModel(models, 'name', 'openai'), null)
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { ManualScheduler } from '../../test/support/manual-scheduler.ts'
import { type ScriptedAnswer, ScriptedEngine } from '../../test/support/scripted-engine.ts'
import { describeEngine, type EngineAnswer } from './describe-engine.ts'

type Answers = Readonly<Record<string, ScriptedAnswer>>

async function describe(answers: Answers, known: 'unknown' | null = null): Promise<EngineAnswer> {
  const scheduler = new ManualScheduler()
  const engine = new ScriptedEngine(scheduler)
  for (const [path, answer] of Object.entries(answers)) engine.answers.set(path, answer)
  const described = describeEngine(engine.fetch, known, [], 1_000)
  let done = false
  described.finally(() => {
    done = true
  })
  while (!done) {
    scheduler.advance(1)
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }
  return described
}

const json = (value: unknown): ScriptedAnswer => ({ text: JSON.stringify(value) })
const models = (owner: string): ScriptedAnswer => json({ data: [{ id: 'm', owned_by: owner }] })

const cases: readonly {
  readonly name: string
  readonly answers: Answers
  readonly want: object
}[] = [
  {
    name: 'vLLM by the owner of its models',
    answers: { '/v1/models': models('vllm'), '/version': json({ version: '0.32.0' }) },
    want: { engine: 'vllm', version: '0.32.0' },
  },
  {
    name: 'SGLang, with limits from the older path',
    answers: {
      '/v1/models': models('sglang'),
      '/get_server_info': json({
        version: '0.5.10',
        max_total_num_tokens: 400_000,
        max_running_requests: 512,
        chunked_prefill_size: 8_192,
        page_size: 1,
        internal_states: [{}],
      }),
    },
    want: {
      engine: 'sglang',
      version: '0.5.10',
      kvCapacityTokens: 400_000,
      runningMax: 512,
      batchTokensMax: 8_192,
      matchUnitTokens: 1,
    },
  },
  {
    name: 'TensorRT-LLM',
    answers: { '/v1/models': models('tensorrt_llm'), '/version': json({ version: '1.1.0' }) },
    want: { engine: 'tensorrt-llm', version: '1.1.0' },
  },
  {
    name: 'llama.cpp by its Server header, its context divided among slots',
    answers: {
      '/v1/models': { ...models('someone'), headers: { server: 'llama.cpp' } },
      '/props': json({
        total_slots: 4,
        build_info: 'b9000',
        default_generation_settings: { n_ctx: 8_192 },
      }),
    },
    want: { engine: 'llama.cpp', version: 'b9000', runningMax: 4, kvCapacityTokens: 32_768 },
  },
  {
    name: 'Ollama by its own version path, whoever owns the models',
    answers: { '/v1/models': models('someone'), '/api/version': json({ version: '0.9.1' }) },
    want: { engine: 'ollama', version: '0.9.1' },
  },
  {
    name: 'TGI without a list of models',
    answers: {
      '/info': json({ model_id: 'x', version: '3.0', max_batch_total_tokens: 90_000 }),
    },
    want: { engine: 'tgi', version: '3.0', kvCapacityTokens: 90_000 },
  },
  { name: 'nothing that is known', answers: { '/v1/models': models('acme') }, want: {} },
]

for (const { name, answers, want } of cases) {
  test(`recognises ${name}`, async () => {
    const { description } = await describe(answers)
    const { models: _, ...facts } = description
    assert.deepEqual(facts, want)
  })
}

test('an engine that was looked for in vain is not looked for again', async () => {
  const { description } = await describe({ '/api/version': json({ version: '1' }) }, 'unknown')
  assert.deepEqual(description, {})
})

test('says why the models are not known', async () => {
  assert.equal((await describe({})).modelsProblem, 'status 404')
  assert.equal((await describe({ '/v1/models': { status: 401 } })).modelsProblem, 'status 401')
  const html = { '/v1/models': { text: '<html>' } }
  assert.equal((await describe(html)).modelsProblem, 'not a list of models')
  assert.equal((await describe({ '/v1/models': models('vllm') })).modelsProblem, null)
})

test('hostile answers describe nothing', async () => {
  const hostile = ['null', '[]', '{"version":7}', '{"total_slots":-1}', '{"version":', '"x"']
  for (const text of hostile) {
    const paths = ['/v1/models', '/version', '/props', '/info', '/server_info', '/api/version']
    const answers = Object.fromEntries(paths.map((path) => [path, { text }]))
    assert.deepEqual((await describe(answers)).description, {}, text)
  }
})

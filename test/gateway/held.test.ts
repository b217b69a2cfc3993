/** Requests that wait at the router: what their clients see, and that nothing of them is left. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Config } from '../../src/config/config.ts'
import { GatewayStage } from '../support/gateway-stage.ts'
import type { RawClient } from '../support/raw-client.ts'
import { type EngineCall, RawEngine, type Script } from '../support/raw-engine.ts'

const timeout = { timeout: 20_000 }

/** Two contexts of 60,000 tokens fit an engine, three do not. */
const kvCapacityTokens = 150_000
const contextBytes = 240_000

/** A prompt that shares nothing with that of another number. */
function contextOf(number: number): string {
  const word = `context-${number} `
  return word.repeat(Math.ceil(contextBytes / word.length))
}

const messages = (number: number) => [{ role: 'user' as const, content: contextOf(number) }]

interface Stage {
  readonly engine: RawEngine
  readonly stage: GatewayStage
  /** A request with a context of its own. */
  send(number: number, fields?: object, path?: string): RawClient
}

/** An engine whose answers the test gives, behind a gateway that counts its memory. */
async function stageOf(
  t: TestContext,
  config: Partial<Config> = {},
  script: Script = () => {},
): Promise<Stage> {
  const engine = await RawEngine.start(t, script)
  const endpoints = [{ url: engine.url, kvCapacityTokens }] as unknown as Config['endpoints']
  const stage = await GatewayStage.start(t, [engine], {
    config: { policy: 'warmpath', endpoints, ...config },
  })
  return {
    engine,
    stage,
    send: (number, fields = {}, path = '/v1/chat/completions') =>
      stage.chat({ messages: messages(number), max_tokens: 100, ...fields }, { path }),
  }
}

function answer(call: EngineCall): void {
  const usage = {
    prompt_tokens: 60_000,
    completion_tokens: 5,
    prompt_tokens_details: { cached_tokens: 0 },
  }
  const message = { role: 'assistant', content: 'done' }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  call.answer(200, JSON.stringify({ object: 'chat.completion', choices, usage }))
}

const holding = (count: number) => (status: { readonly heldRequests: number }) =>
  status.heldRequests === count

/** Two contexts at work and a third request held. */
async function full(t: TestContext, config: Partial<Config> = {}, fields = {}, path?: string) {
  const made = await stageOf(t, config)
  const first = made.send(1)
  const second = made.send(2)
  await made.engine.call(1)
  const third = made.send(3, fields, path)
  await made.stage.statusWhen(({ openRequests }) => openRequests === 3)
  return { ...made, first, second, third }
}

test(
  'a held request keeps its connection and is answered when there is room',
  timeout,
  async (t) => {
    const { engine, stage, third } = await full(t, { drainTimeoutMs: 0 })
    const status = await stage.statusWhen(holding(1))
    assert.deepEqual(
      status.held.map(({ model, tenant, reason }) => [model, tenant, /no room/.test(reason)]),
      [['m', 'default', true]],
    )
    assert.ok(status.held[0]!.deadlineInMs > 200_000 && status.held[0]!.waitedMs >= 0)
    assert.equal(status.admission?.places, 2)
    assert.equal(await stage.metric('warmpath_held_requests'), 1)
    assert.equal(engine.calls.length, 2)
    // The clients of the first two leave: their sessions rest, and the engine has nothing to do.
    const spare = await RawEngine.start(t)
    const endpoints = [engine.url, spare.url].map((url) => ({ url, kvCapacityTokens }))
    stage.reload({ endpoints: endpoints as unknown as Config['endpoints'] })
    const call = await spare.call(0)
    assert.ok(call.body.includes('context-3'))
    answer(call)
    const { text } = await third.over()
    assert.match(text, /^HTTP\/1.1 200 /)
    assert.match(text, /x-warmpath-held-ms: \d+/)
    assert.equal(await stage.metric('warmpath_holds_total'), 1)
    assert.equal((await stage.status()).heldRequests, 0)
  },
)

for (const how of ['close', 'reset'] as const) {
  test(`a client that leaves (${how}) while held leaves no trace`, timeout, async (t) => {
    const { engine, stage, third } = await full(t)
    await stage.statusWhen(holding(1))
    if (how === 'close') third.close()
    else third.socket.resetAndDestroy()
    const status = await stage.statusWhen(({ openRequests }) => openRequests === 2)
    assert.deepEqual([status.heldRequests, status.held, status.sessions], [0, [], 2])
    assert.equal(engine.calls.length, 2)
    assert.equal(await stage.metric('warmpath_holds_expired_total'), 0)
  })
}

for (const stream of [false, true]) {
  test(`the deadline of a hold: 429 with Retry-After (stream ${stream})`, timeout, async (t) => {
    const { engine, stage, third } = await full(t, { holdMaxMs: 1_000 }, { stream })
    const { how, text } = await third.over()
    assert.equal(how, 'end')
    assert.match(text, /^HTTP\/1.1 429 /)
    assert.match(text, /\r\nretry-after: [1-9]\d*\r\n/)
    const { error } = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))
    assert.deepEqual([error.type, error.code], ['rate_limit_error', 'fleet_full'])
    assert.match(error.message, /waited 1 s: no room for a context of 60\d{3} tokens/)
    assert.equal(engine.calls.length, 2)
    assert.equal(await stage.metric('warmpath_holds_expired_total'), 1)
  })
}

test('the deadline of a hold in the shape of the Anthropic API', timeout, async (t) => {
  const { third } = await full(t, { holdMaxMs: 1_000 }, {}, '/v1/messages')
  const { text } = await third.over()
  assert.match(text, /^HTTP\/1.1 429 /)
  const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))
  assert.deepEqual([body.type, body.error.type], ['error', 'rate_limit_error'])
})

test(
  'the clients of both APIs send again after a hold that ran out, and succeed',
  timeout,
  async (t) => {
    const { engine, stage, first } = await full(t, { holdMaxMs: 1_000 }, {})
    await stage.statusWhen(holding(1))
    const openai = new OpenAI({
      baseURL: `${stage.gateway.address}/v1`,
      apiKey: 'none',
      maxRetries: 5,
    })
    const anthropic = new Anthropic({
      baseURL: stage.gateway.address,
      apiKey: 'none',
      maxRetries: 5,
    })
    engine.script = answer
    const chat = openai.chat.completions.create({
      model: 'm',
      max_tokens: 100,
      messages: messages(4),
    })
    const message = anthropic.messages.create({
      model: 'm',
      max_tokens: 100,
      messages: messages(5),
    })
    while ((await stage.metric('warmpath_holds_expired_total')) < 2) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    // A second engine makes the room that was missing.
    const spare = await RawEngine.start(t, answer)
    const endpoints = [engine.url, spare.url].map((url) => ({ url, kvCapacityTokens: 400_000 }))
    stage.reload({ endpoints: endpoints as unknown as Config['endpoints'] })
    assert.equal((await chat).choices[0]!.message.content, 'done')
    assert.ok(await message)
    first.close()
  },
)

test('a drain tells held clients at once; what runs may finish', timeout, async (t) => {
  const { engine, stage, first, third } = await full(t, { drainTimeoutMs: 10_000 })
  await stage.statusWhen(holding(1))
  const drained = stage.gateway.drain()
  const { text } = await third.over()
  assert.match(text, /^HTTP\/1.1 503 /)
  assert.match(text, /shutting_down/)
  for (const call of engine.calls) answer(call)
  assert.match((await first.over()).text, /^HTTP\/1.1 200 /)
  await drained
})

test(
  'an engine that dies while others wait: they wait on, and go to what is left',
  timeout,
  async (t) => {
    const { engine, stage, third } = await full(t, { healthIntervalMs: 100 })
    await stage.statusWhen(holding(1))
    engine.stop()
    const spare = await RawEngine.start(t, answer)
    const endpoints = [engine.url, spare.url].map((url) => ({ url, kvCapacityTokens }))
    stage.reload({ endpoints: endpoints as unknown as Config['endpoints'] })
    assert.match((await third.over()).text, /^HTTP\/1.1 200 /)
  },
)

test('many held requests cost no more than their bodies, and none is lost', timeout, async (t) => {
  const { engine, stage, send } = await full(t)
  const clients = Array.from({ length: 100 }, (_, i) => send(100 + i))
  const status = await stage.statusWhen(holding(101))
  assert.equal(status.held.length, 20, 'the status page shows a bounded number')
  const spare = await RawEngine.start(t, answer)
  const endpoints = [
    { url: engine.url, kvCapacityTokens },
    { url: spare.url, kvCapacityTokens: 100_000_000 },
  ]
  stage.reload({ endpoints: endpoints as unknown as Config['endpoints'] })
  for (const client of clients) assert.match((await client.over()).text, /^HTTP\/1.1 200 /)
  assert.equal((await stage.status()).heldRequests, 0)
})

test('an engine that does not report cached tokens is never held back', timeout, async (t) => {
  const silent: Script = (call) => {
    const usage = { prompt_tokens: 60_000, completion_tokens: 5 }
    call.answer(200, JSON.stringify({ object: 'chat.completion', choices: [], usage }))
  }
  const { engine, stage, send } = await stageOf(t, {}, silent)
  for (let number = 0; number < 8; number++) {
    const small = { messages: [{ role: 'user', content: `hello ${number}` }] }
    await send(0, small).over()
  }
  engine.script = () => {}
  for (let number = 1; number <= 5; number++) send(number)
  await engine.call(12)
  const status = await stage.status()
  assert.deepEqual([status.heldRequests, status.admission?.unwatched], [0, 1])
})

test('where admission is off nobody is held', timeout, async (t) => {
  const { engine, stage, send } = await stageOf(t, { admission: 'none' })
  for (let number = 1; number <= 5; number++) send(number)
  await engine.call(4)
  assert.equal((await stage.status()).admission, null)
})

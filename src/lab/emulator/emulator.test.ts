import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { profileNamed } from '../engine/profiles.ts'
import type { Replica } from './replica.ts'
import { type Emulator, startEmulator } from './start-emulator.ts'

const profile = profileNamed('llama-3.1-8b-h100')

let emulator: Emulator
before(async () => {
  emulator = await startEmulator({ profile, replicas: 2, timeScale: 50, models: ['m', 'alias'] })
})
after(() => emulator.close())

const clientOf = (url: string): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })

type Message = { role: 'user' | 'assistant'; content: string }

async function streamTurn(url: string, messages: Message[]) {
  const stream = await clientOf(url).chat.completions.create({
    model: 'm',
    messages,
    max_tokens: 40,
    stream: true,
    stream_options: { include_usage: true },
  })
  let content = ''
  let usage: OpenAI.CompletionUsage | undefined
  for await (const chunk of stream) {
    content += chunk.choices[0]?.delta.content ?? ''
    usage = chunk.usage ?? usage
  }
  assert.ok(usage, 'the last chunk carries the usage')
  return { content, usage }
}

/** Waits for the replica to reach a state, looking after each of its events. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

test('the openai client streams a conversation, and each turn hits the one before it', async () => {
  const messages: Message[] = [{ role: 'user', content: 'Tell me of the sea. '.repeat(40) }]
  let knownTokens = 0
  for (let turn = 0; turn < 4; turn++) {
    const { content, usage } = await streamTurn(emulator.urls[0], messages)
    const cached = usage.prompt_tokens_details?.cached_tokens ?? 0
    // All but the last block of the turn before, and its last token, which was never fed back.
    assert.ok(cached >= knownTokens - 2 * profile.blockTokens, `turn ${turn}: ${cached}`)
    assert.ok(cached < usage.prompt_tokens)
    assert.equal(usage.completion_tokens, content.length / 4)
    knownTokens = usage.total_tokens
    messages.push({ role: 'assistant', content }, { role: 'user', content: 'And more?' })
  }
  assert.ok(knownTokens > 250)
})

test('replicas of one seed give the same answer, and answers depend on the prompt', async () => {
  const ask = async (url: string, content: string) =>
    (await streamTurn(url, [{ role: 'user', content }])).content
  const [here, there] = await Promise.all(emulator.urls.map((url) => ask(url, 'one')))
  assert.equal(here, there)
  assert.notEqual(here, await ask(emulator.urls[0], 'two'))
})

test('max_tokens, min_tokens and ignore_eos decide the length', async () => {
  const length = async (fields: object) => {
    const body = { model: 'm', prompt: 'count', ...fields }
    const response = await post(emulator.urls[0], '/v1/completions', body)
    const { usage, choices } = await json(response)
    return [usage.completion_tokens, choices[0].finish_reason]
  }
  assert.deepEqual(await length({ max_tokens: 3 }), [3, 'length'])
  assert.deepEqual(await length({ max_tokens: 700, ignore_eos: true }), [700, 'length'])
  assert.deepEqual(await length({ max_tokens: 900, min_tokens: 600 }), [600, 'stop'])
  const [natural, reason] = await length({})
  assert.equal(reason, 'stop')
  assert.ok(natural >= 30 && natural <= 480)
})

test('fields that do not reach a model do not change the prompt', async () => {
  const replica = emulator.replicas[1]
  const ask = async (message: object) => {
    const before = replica.stats().prefixHitTokens
    await post(replica.url, '/v1/chat/completions', { messages: [message], max_tokens: 1 })
    return replica.stats().prefixHitTokens - before
  }
  const text = 'a sentence that is long enough for some blocks. '.repeat(10)
  assert.equal(await ask({ role: 'user', content: text }), 0)
  const part = { type: 'text', text, cache_control: { type: 'ephemeral' } }
  assert.ok((await ask({ content: [part], role: 'user' })) > 100)
})

test('a client that leaves frees the memory at once, streaming or not', async () => {
  const replica = emulator.replicas[0]
  for (const stream of [true, false]) {
    const gone = new AbortController()
    const body = { prompt: 'long '.repeat(400), max_tokens: 4000, ignore_eos: true, stream }
    const answer = post(replica.url, '/v1/completions', body, gone.signal)
    answer.catch(() => {})
    await until(() => replica.stats().running === 1)
    assert.ok(replica.stats().kvUsage > 0)
    const aborted = replica.stats().abortedRequests
    gone.abort()
    await until(() => replica.stats().running === 0)
    assert.equal(replica.stats().kvUsage, 0)
    assert.equal(replica.stats().abortedRequests, aborted + 1)
    await assert.rejects(async () => (await answer).text())
  }
})

test('a stored response is retrieved, continued and deleted by id', async () => {
  const client = clientOf(emulator.urls[0])
  const first = await client.responses.create({ model: 'm', input: 'Remember this. '.repeat(30) })
  const same = await client.responses.retrieve(first.id)
  assert.equal(same.output_text, first.output_text)
  const input = 'And now?'
  const next = await client.responses.create({ model: 'm', input, previous_response_id: first.id })
  assert.ok((next.usage?.input_tokens_details.cached_tokens ?? 0) > 100)
  await client.responses.delete(first.id)
  await assert.rejects(client.responses.retrieve(first.id), { status: 404 })
})

test('embeddings are the same for the same text', async () => {
  const client = clientOf(emulator.urls[0])
  const { data, usage } = await client.embeddings.create({
    model: 'm',
    input: ['one text', 'another', 'one text'],
    encoding_format: 'float',
  })
  assert.deepEqual(data[0].embedding, data[2].embedding)
  assert.notDeepEqual(data[0].embedding, data[1].embedding)
  assert.equal(usage.prompt_tokens, 6)
})

test('several answers and several prompts come back under their index', async () => {
  const body = { prompt: ['alpha', 'beta'], n: 2, max_tokens: 5 }
  const response = await post(emulator.urls[0], '/v1/completions', body)
  const { choices, usage } = await json(response)
  const texts: string[] = choices.map((choice: { text: string }) => choice.text)
  assert.deepEqual(
    choices.map((choice: { index: number }) => choice.index),
    [0, 1, 2, 3],
  )
  assert.equal(new Set(texts).size, 4)
  assert.equal(usage.completion_tokens, 20)
})

test('metrics name what a router reads, and count in tokens', async () => {
  const page = await (await fetch(`${emulator.urls[0]}/metrics`)).text()
  const value = (series: string) => Number(page.split(`\n${series} `)[1]?.split('\n')[0])
  const labels = '{engine="0",model_name="m"}'
  assert.equal(value(`vllm:num_requests_running${labels}`), 0)
  assert.equal(value(`vllm:kv_cache_usage_perc${labels}`), 0)
  const { prefixHitTokens, prefixQueryTokens } = emulator.replicas[0].stats()
  assert.equal(value(`vllm:prefix_cache_hits_total${labels}`), prefixHitTokens)
  assert.equal(value(`vllm:prefix_cache_queries_total${labels}`), prefixQueryTokens)
  assert.match(page, /^vllm:cache_config_info\{block_size="16",.*num_gpu_blocks="26312"/m)
  assert.match(page, /^process_start_time_seconds \d+/m)
})

test('an idle connection is closed without a word, as uvicorn does', async () => {
  const quick = await startEmulator({ profile, keepAliveMs: 30 })
  const replica = quick.replicas[0]
  const socket = connect(Number(new URL(replica.url).port), '127.0.0.1')
  socket.write('GET /health HTTP/1.1\r\nhost: engine\r\n\r\n')
  let text = ''
  for await (const chunk of socket) text += chunk
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
  assert.doesNotMatch(text, /keep-alive/i)
  await quick.close()
})

test('a restart keeps the port and nothing else', async () => {
  const replica = emulator.replicas[1]
  const { url } = replica
  const messages: Message[] = [{ role: 'user', content: 'Keep this in mind. '.repeat(30) }]
  await streamTurn(url, messages)
  const startOf = async () =>
    /^process_start_time_seconds (\S+)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
  const started = await startOf()
  await replica.kill()
  await assert.rejects(fetch(`${url}/health`))
  await replica.restart()
  assert.equal(replica.url, url)
  assert.notEqual(await startOf(), started)
  const { usage } = await streamTurn(url, messages)
  assert.equal(usage.prompt_tokens_details?.cached_tokens, 0)
  assert.equal(replica.stats().lives, 2)
})

test('SGLang has its own names, errors and hit rule', async () => {
  const sglang = await startEmulator({ profile, personality: 'sglang', models: ['m'] })
  const replica: Replica = sglang.replicas[0]
  const refused = await post(replica.url, '/v1/chat/completions', { model: 'no', messages: [] })
  assert.equal(refused.status, 404)
  assert.equal((await json(refused)).object, 'error')
  const page = await (await fetch(`${replica.url}/metrics`)).text()
  assert.match(page, /^sglang:num_running_reqs\{/m)
  assert.doesNotMatch(page, /vllm:/)
  const models = await json(await fetch(`${replica.url}/v1/models`))
  assert.equal(models.data[0].owned_by, 'sglang')
  assert.equal(replica.options.profile.hitsInFlight, false)
  await sglang.close()
})

// Answers are checked by what the tests assert of them.
// biome-ignore lint/suspicious/noExplicitAny: see above
const json = async (response: Response): Promise<any> => response.json()

function post(url: string, path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    ...(signal === undefined ? {} : { signal }),
  })
}

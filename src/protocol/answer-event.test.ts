import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertAnswered,
  chatPrompt,
  eventStream,
  events,
  readAnswer,
} from '../../test/support/answers.ts'
import { hashesOf, readOk } from '../../test/support/prompts.ts'
import type { Api } from './api.ts'

const long = 'long '.repeat(120)

/** The next turn of a conversation in another API than chat. */
function assertNextTurn(api: Api, body: string, field: string, items: readonly object[]): void {
  const ask = { role: 'user', content: long }
  const prompt = readOk(api, { model: 'm', [field]: [ask] }).prompt
  const reader = readAnswer(api, eventStream, body, { prompt })
  const next = readOk(api, { model: 'm', [field]: [ask, ...items] }).prompt
  assert.equal(reader.answered()?.bytes, next.bytes)
  assert.deepEqual(hashesOf(reader.answered()!.chain), hashesOf(next.chain))
}

test("Anthropic: thinking, text and a tool's input in fragments", () => {
  const delta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
  const start = (index: number, content_block: object) => ({
    type: 'content_block_start',
    index,
    content_block,
  })
  const body = events(
    { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
    start(0, { type: 'thinking', thinking: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
    delta(0, { type: 'signature_delta', signature: 'abc' }),
    { type: 'ping' },
    start(1, { type: 'text', text: '' }),
    delta(1, { type: 'text_delta', text: long }),
    start(2, { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '' }),
    delta(2, { type: 'input_json_delta', partial_json: '{"path": ' }),
    delta(2, { type: 'input_json_delta', partial_json: '"a b"}' }),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 40 } },
    { type: 'message_stop' },
  )
  const reader = readAnswer('messages', eventStream, body)
  assert.equal(reader.outputEvents, 5)
  assert.equal(reader.complete, true)
  assert.deepEqual(reader.usage, { promptTokens: 3, outputTokens: 40, cachedTokens: null })
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: 'abc' },
    { type: 'text', text: long, cache_control: { type: 'ephemeral' } },
    { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a b' } },
  ]
  assertNextTurn('messages', body, 'messages', [{ role: 'assistant', content }])
})

test('Anthropic: cached input is input, wherever the stream tells it', () => {
  const start = { input_tokens: 10, cache_read_input_tokens: 80, cache_creation_input_tokens: 5 }
  const delta = { type: 'message_delta', usage: { input_tokens: 10, output_tokens: 7 } }
  const body = events({ type: 'message_start', message: { usage: start } }, delta)
  const { usage } = readAnswer('messages', eventStream, body)
  assert.deepEqual(usage, { promptTokens: 95, outputTokens: 7, cachedTokens: 80 })
})

test('responses: a message and a call come with the last event', () => {
  const output = [
    { type: 'reasoning', id: 'rs_1', content: [] },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: long }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"a":1}' },
  ]
  const body = events(
    { type: 'response.created', response: { id: 'resp_1', usage: null, output: [] } },
    { type: 'response.reasoning_text.delta', delta: 'hm' },
    { type: 'response.output_text.delta', delta: long },
    { type: 'response.output_text.done', text: long },
    { type: 'response.function_call_arguments.delta', delta: '{"a":1}' },
    { type: 'response.completed', response: { id: 'resp_1', output } },
  )
  const reader = readAnswer('responses', eventStream, body)
  assert.equal(reader.outputEvents, 3)
  assert.equal(reader.complete, true)
  assert.equal(reader.responseId, 'resp_1')
  assertNextTurn('responses', body, 'input', output)
})

test('F088: the id of a stored response is known from the first event on', () => {
  const created = { type: 'response.created', response: { id: 'resp_1' } }
  const reader = readAnswer('responses', eventStream, events(created))
  assert.equal(reader.responseId, 'resp_1')
  assert.equal(reader.firstTokenSeen, false)
  assert.equal(reader.complete, false)
})

test('llama.cpp: timings tell the cached tokens where usage is not asked for', () => {
  const timings = { cache_n: 236, prompt_n: 1, predicted_n: 35, prompt_ms: 30.9 }
  const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }]
  const body = events({ choices, timings }, '[DONE]')
  const { usage } = readAnswer('chat', eventStream, body)
  assert.deepEqual(usage, { promptTokens: 237, outputTokens: 35, cachedTokens: 236 })
})

test('TGI: no blank behind the colon, and the last event has the whole text', () => {
  const token = (text: string, rest: object = {}) =>
    `data:${JSON.stringify({ token: { id: 1, text }, generated_text: null, ...rest })}\n\n`
  const body = token('a') + token('b') + token('c', { generated_text: 'abc' })
  const reader = readAnswer('other', eventStream, body)
  assert.equal(reader.outputEvents, 3)
  assert.equal(reader.complete, true)
  assert.equal(readAnswer('other', eventStream, token('a')).complete, false)
})

test("SGLang's own stream counts its tokens in meta_info", () => {
  const meta = { prompt_tokens: 8, completion_tokens: 2, cached_tokens: 4 }
  const body = events({ text: 'a', meta_info: meta }, { text: 'ab', meta_info: meta }, '[DONE]')
  const reader = readAnswer('other', eventStream, body)
  assert.equal(reader.outputEvents, 2)
  assert.deepEqual(reader.usage, { promptTokens: 8, outputTokens: 2, cachedTokens: 4 })
})

test("Ollama's lines, cut anywhere", () => {
  const line = (content: string) => ({ message: { role: 'assistant', content }, done: false })
  const last = { message: { content: '' }, done: true, prompt_eval_count: 5, eval_count: 3 }
  const lines = [line(''), line('é'), line('日本'), line(long), last]
  const body = lines.map((one) => `${JSON.stringify(one)}\n`).join('')
  for (const pieceBytes of [1, 5, body.length]) {
    const options = { pieceBytes, prompt: chatPrompt() }
    const reader = readAnswer('other', 'application/x-ndjson', body, options)
    assert.equal(reader.outputEvents, 3)
    assert.equal(reader.complete, true)
    assert.equal(reader.usage.outputTokens, 3)
    assertAnswered(reader, { content: `é日本${long}` })
  }
  const cut = readAnswer('other', 'application/x-ndjson', body.slice(0, 40))
  assert.equal(cut.complete, false)
})

test('a whole chat answer with calls is continued as its stream would be', () => {
  const tool_calls = [
    { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a": [1]}' } },
  ]
  const message = { role: 'assistant', content: long, tool_calls, reasoning_content: 'hm' }
  const body = JSON.stringify({ object: 'chat.completion', choices: [{ index: 0, message }] })
  const reader = readAnswer('chat', 'application/json', body, { prompt: chatPrompt() })
  assertAnswered(reader, { content: long, tool_calls })
})

test('an answer that is too large to keep is not continued', () => {
  const delta = { content: 'x'.repeat(200_000) }
  const chunks = Array.from({ length: 8 }, () => ({ choices: [{ index: 0, delta }] }))
  const body = events(...chunks, '[DONE]')
  const reader = readAnswer('chat', eventStream, body, { prompt: chatPrompt() })
  assert.equal(reader.outputEvents, 8)
  assert.equal(reader.complete, true)
  assert.equal(reader.answered(), null)
})

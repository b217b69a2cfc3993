import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  assertAnswered,
  chatPrompt,
  chunk,
  eventStream,
  events,
  golden,
  readAnswer,
} from '../../test/support/answers.ts'
import { answerReader } from './answer-reader.ts'
import type { Api } from './api.ts'

const done = '[DONE]'
const long = (word: string): string => `${word} `.repeat(200)

interface Expected {
  events: number
  usage: (number | null)[]
  responseId?: string
}

/** What vLLM 0.32.0 was recorded to answer: output events, and prompt, output, cached tokens. */
const recorded: [string, Api, string, Expected][] = [
  ['chat.sse', 'chat', eventStream, { events: 6, usage: [45, 6, 32] }],
  ['chat.json', 'chat', 'application/json', { events: 1, usage: [45, 6, 32] }],
  ['chat-token-ids.sse', 'chat', eventStream, { events: 3, usage: [null, null, null] }],
  ['chat-tool-call.sse', 'chat', eventStream, { events: 2, usage: [null, null, null] }],
  ['completions.sse', 'completions', eventStream, { events: 4, usage: [3, 4, 0] }],
  ['completions.json', 'completions', 'application/json', { events: 1, usage: [3, 4, 0] }],
  ['messages.sse', 'messages', eventStream, { events: 4, usage: [45, 4, 32] }],
  ['messages.json', 'messages', 'application/json', { events: 1, usage: [45, 4, 32] }],
  [
    'responses.sse',
    'responses',
    eventStream,
    { events: 2, usage: [18, 4, 0], responseId: 'resp_9c954322ddffb056' },
  ],
  [
    'responses.json',
    'responses',
    'application/json',
    { events: 1, usage: [18, 4, 0], responseId: 'resp_955e2e8ec19801d7' },
  ],
]

for (const [file, api, contentType, expected] of recorded) {
  test(`F001: ${file} reads the same in pieces of any size, and a cut one is not whole`, () => {
    const body = golden(`vllm-0.32.0/${file}`)
    for (const pieceBytes of [1, 2, 3, 7, 64, 1_000, body.length]) {
      const reader = readAnswer(api, contentType, body, { pieceBytes })
      assert.equal(reader.outputEvents, expected.events)
      assert.equal(reader.firstTokenSeen, true)
      const { promptTokens, outputTokens, cachedTokens } = reader.usage
      assert.deepEqual([promptTokens, outputTokens, cachedTokens], expected.usage)
      assert.equal(reader.complete, true)
      assert.equal(reader.errorEvent, null)
      assert.equal(reader.responseId, expected.responseId ?? null)
    }
    assert.equal(readAnswer(api, contentType, body.subarray(0, -20)).complete, false)
  })
}

test('a role-only chunk is no token, with prompt token ids or without', () => {
  for (const file of ['chat.sse', 'chat-token-ids.sse']) {
    const body = golden(`vllm-0.32.0/${file}`)
    const first = body.subarray(0, body.indexOf('\n\n') + 2)
    assert.equal(readAnswer('chat', eventStream, first).firstTokenSeen, false)
  }
})

test('F008: usage is read beside no choices, an empty delta, and the stop', () => {
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 2,
    total_tokens: 11,
    prompt_tokens_details: { cached_tokens: 8 },
  }
  const stop = { index: 0, delta: { content: '!' }, finish_reason: 'stop' }
  for (const last of [{ choices: [], usage }, chunk({}, { usage }), { choices: [stop], usage }]) {
    const body = events(chunk({ content: 'Hi' }), last, done)
    const read = readAnswer('chat', eventStream, body).usage
    assert.deepEqual(read, { promptTokens: 9, outputTokens: 2, cachedTokens: 8 })
  }
})

test('F008: usage in every chunk ends with the last one', () => {
  const at = (n: number) => ({ usage: { prompt_tokens: 9, completion_tokens: n } })
  const chunks = Array.from({ length: 20 }, (_, i) => chunk({ content: 'x' }, at(i + 1)))
  const reader = readAnswer('chat', eventStream, events(...chunks, done))
  assert.deepEqual(reader.usage, { promptTokens: 9, outputTokens: 20, cachedTokens: null })
  assert.equal(reader.outputEvents, 20)
})

test('F009: tool fragments that carry an index alone are put together by it', () => {
  const fragments = (index: number, letter: string) =>
    Array.from({ length: 25 }, () =>
      chunk({ tool_calls: [{ index, function: { arguments: letter } }] }),
    )
  const begin = (index: number, name: string) =>
    chunk({ tool_calls: [{ index, id: `call_${index}`, function: { name, arguments: '{"v":"' } }] })
  const end = (index: number) => chunk({ tool_calls: [{ index, function: { arguments: '"}' } }] })
  const [a, b] = [fragments(0, 'a'), fragments(1, 'b')]
  const mixed = a.flatMap((one, i) => [one, b[i]])
  const body = events(begin(0, 'f'), begin(1, 'g'), ...mixed, end(1), end(0), done)
  const reader = readAnswer('chat', eventStream, body, { prompt: chatPrompt() })
  assert.equal(reader.outputEvents, 54)
  const call = (name: string, v: string) => ({
    function: { name, arguments: JSON.stringify({ v }) },
  })
  const tool_calls = [call('f', 'a'.repeat(25)), call('g', 'b'.repeat(25))]
  assertAnswered(reader, { content: null, tool_calls })
})

test('F011: reasoning and unknown deltas count toward the first token, empty ones do not', () => {
  const first = (delta: object) => readAnswer('chat', eventStream, events(chunk(delta)))
  for (const key of ['content', 'reasoning', 'reasoning_content', 'refusal', 'something_new']) {
    assert.equal(first({ role: 'assistant', [key]: 'x' }).firstTokenSeen, true, key)
    for (const empty of ['', null, [], {}]) {
      assert.equal(first({ role: 'assistant', [key]: empty }).firstTokenSeen, false, key)
    }
  }
  assert.equal(first({ tool_calls: [{ index: 0, function: { name: 'f' } }] }).firstTokenSeen, true)
})

test('reasoning is no part of the answer that the next turn sends back', () => {
  const thoughts = Array.from({ length: 30 }, () => chunk({ reasoning_content: 'hm ' }))
  const words = Array.from({ length: 30 }, () => chunk({ content: 'word ' }))
  const body = events(chunk({ role: 'assistant', content: '' }), ...thoughts, ...words, done)
  const reader = readAnswer('chat', eventStream, body, { prompt: chatPrompt() })
  assert.equal(reader.outputEvents, 60)
  assertAnswered(reader, { content: 'word '.repeat(30) })
})

test('F140: an error and then [DONE] is an error', () => {
  const error = { error: { message: 'EngineCore died', type: 'InternalServerError', code: 500 } }
  const body = events(chunk({ content: 'x' }), error, done)
  const reader = readAnswer('chat', eventStream, body, { prompt: chatPrompt() })
  assert.equal(reader.errorEvent, 'EngineCore died')
  assert.equal(reader.answered(), null)
})

test('F140: errors are seen in each shape', () => {
  const error = (api: Api, body: string) => readAnswer(api, eventStream, body).errorEvent
  assert.equal(error('chat', events({ error: 'text' })), 'text')
  assert.equal(error('chat', events({ object: 'error', message: 'flat' })), 'flat')
  assert.equal(error('chat', 'event: error\ndata: no json\n\n'), 'no json')
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  assert.equal(error('messages', `event: error\n${events(overloaded)}`), 'Overloaded')
  assert.equal(error('responses', events({ type: 'error', message: 'gone' })), 'gone')
  const failed = { type: 'response.failed', response: { id: 'r', error: { message: 'broke' } } }
  assert.equal(error('responses', events(failed)), 'broke')
  const choice = { index: 0, delta: {}, finish_reason: 'error' }
  assert.equal(error('chat', events({ choices: [choice] })), 'finish_reason error')
  assert.equal(error('chat', events({ error: null, choices: [] }, done)), null)
})

test("another choice's text is output, but not the answer", () => {
  const other = (text: string) => ({ choices: [{ index: 1, delta: { content: text } }] })
  const body = events(chunk({ content: 'a' }), other('b'), chunk({ content: long('c') }), done)
  const reader = readAnswer('chat', eventStream, body, { prompt: chatPrompt() })
  assert.equal(reader.outputEvents, 3)
  assertAnswered(reader, { content: `a${long('c')}` })
})

test('an answer of another status, or of unknown content, is not judged', () => {
  const error = answerReader('chat', 'application/json', 503, null)
  error.push(Buffer.from('{"error"'))
  error.end()
  assert.equal(error.complete, true)
  assert.equal(error.errorEvent, null)
  assert.equal(error.firstTokenSeen, false)
  const audio = readAnswer('other', 'audio/mpeg', 'xxx')
  assert.equal(audio.firstTokenSeen, true)
  assert.equal(audio.complete, true)
  assert.equal(audio.answered(), null)
})

test('a large body is not kept: its usage is read from its end', () => {
  const data = { embedding: Array.from({ length: 50_000 }, (_, i) => i / 3) }
  const body = JSON.stringify({ data: [data], usage: { prompt_tokens: 7, total_tokens: 7 } })
  for (const pieceBytes of [1_000, 70_000, body.length]) {
    const reader = readAnswer('embeddings', 'application/json', body, { pieceBytes })
    assert.equal(reader.usage.promptTokens, 7)
    assert.equal(reader.complete, true)
    const cut = readAnswer('embeddings', 'application/json', body.slice(0, -9), { pieceBytes })
    assert.equal(cut.complete, false)
  }
})

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('"', '\\', '\n', '\u2028', 'é', '日本', '😀', '\ud83d', '\ude00', ' ', ''),
)
const fragment = fc.tuple(fc.constantFrom('content', 'reasoning'), text)

test('F001: any text in any fragments, cut anywhere, is the text that was sent', () => {
  fc.assert(
    fc.property(
      fc.array(fragment, { maxLength: 60 }),
      fc.integer({ min: 1, max: 400 }),
      (all, n) => {
        const chunks = all.map(([key, value]) => chunk({ [key]: value }))
        const body = events(chunk({ role: 'assistant', content: '' }), ...chunks, done)
        const reader = readAnswer('chat', eventStream, body, {
          prompt: chatPrompt(),
          pieceBytes: n,
        })
        assert.equal(reader.outputEvents, all.filter(([, value]) => value !== '').length)
        const whole = all.map(([key, value]) => (key === 'content' ? value : '')).join('')
        assertAnswered(reader, { content: whole })
      },
    ),
  )
})

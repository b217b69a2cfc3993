import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { answerReader } from './answer-reader.ts'
import type { Api } from './api.ts'
import { readRequest } from './read-request.ts'

const apis: Api[] = [
  'chat',
  'completions',
  'responses',
  'embeddings',
  'messages',
  'count-tokens',
  'other',
]

/** JSON values in which the words of the APIs come up often. */
const word = fc.constantFrom(
  ...['messages', 'role', 'content', 'type', 'text', 'tool_result', 'tool_use', 'image_url', 'url'],
  ...['input', 'prompt', 'tools', 'function', 'name', 'arguments', 'tool_calls', 'source', 'data'],
  ...['choices', 'delta', 'usage', 'prompt_tokens', 'error', 'message', 'response', 'output', 'id'],
  ...['index', 'content_block', 'partial_json', 'response.completed', 'content_block_delta'],
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'small' },
    word,
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1.5,
      1e300,
      '',
      '\ud800',
      'data:image/png;base64,iVBORw0KGgo',
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(word, tie('value'), { maxKeys: 6 }),
  ),
}))
const body = fc.dictionary(word, value, { maxKeys: 8 })

test('no request body, whatever its shape, throws', () => {
  fc.assert(
    fc.property(fc.constantFrom(...apis), body, (api, json) => {
      const outcome = readRequest(api, Buffer.from(JSON.stringify(json)), '')
      if (!outcome.ok) return assert.equal(outcome.reason, 'unknown-shape')
      outcome.request.prompt.hasher.continueWithAnswer([{ type: 'text', text: 'x' }])
      assert.ok(outcome.request.prompt.bytes >= 0)
    }),
    { numRuns: 1_000 },
  )
})

test('no answer, whatever its shape, throws', () => {
  const contentTypes = ['text/event-stream', 'application/json', 'application/x-ndjson']
  const oneAnswer = fc.array(fc.oneof(body, value), { maxLength: 6 })
  fc.assert(
    fc.property(fc.constantFrom(...contentTypes), oneAnswer, (contentType, parts) => {
      const prefix = contentType === 'text/event-stream' ? 'data: ' : ''
      const reader = answerReader('chat', contentType, 200, null)
      for (const part of parts) reader.push(Buffer.from(`${prefix}${JSON.stringify(part)}\n\n`))
      reader.end()
      for (const count of Object.values(reader.usage)) assert.ok(count === null || count >= 0)
    }),
    { numRuns: 1_000 },
  )
})

const deep = (open: string, inner: string, close: string): string =>
  open.repeat(30_000) + inner + close.repeat(30_000)

test('a body nested deeper than the stack is read, or refused, without an exception', () => {
  const nested = [
    deep('[', '', ']'),
    deep('{"type":"tool_result","content":', '"x"', '}'),
    deep('[{"type":"tool_result","content":', '"x"', '}]'),
    deep('{"source":', '"x"', '}'),
    deep('{"arguments":', '{}', '}'),
  ]
  for (const api of apis) {
    for (const one of nested) {
      for (const text of [
        `{"messages":[{"role":"user","content":${one}}]}`,
        `{"messages":[{"role":"user","tool_calls":[{"function":{"arguments":${one}}}]}]}`,
        `{"messages":[],"tools":${one},"system":${one}}`,
        `{"messages":[],"chat_template_kwargs":${one}}`,
        `{"prompt":${one},"input":${one}}`,
        `{"input":[{"type":"function_call","arguments":${JSON.stringify(one)}}]}`,
      ]) {
        readRequest(api, Buffer.from(text), '')
      }
    }
  }
})

test('an answer nested deeper than the stack is read without an exception', () => {
  const input = deep('{"a":', '1', '}')
  const block = `{"type":"tool_use","input":${input}}`
  const start = `{"type":"content_block_start","index":0,"content_block":${block}}`
  const reader = answerReader('messages', 'text/event-stream', 200, null)
  reader.push(Buffer.from(`data: ${start}\n\n`))
  assert.equal(reader.firstTokenSeen, true)
})

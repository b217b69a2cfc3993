import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APIError as AnthropicError } from '@anthropic-ai/sdk'
import { Stream as AnthropicStream } from '@anthropic-ai/sdk/streaming'
import { APIError } from 'openai'
import { Stream } from 'openai/streaming'
import { eventStream, readAnswer } from '../../test/support/answers.ts'
import { type ErrorCode, errorCatalogue } from '../base/errors.ts'
import type { Api } from './api.ts'
import { renderErrorBody, renderErrorEvent } from './error-body.ts'

const apis: Api[] = ['chat', 'completions', 'responses', 'embeddings', 'messages', 'other']
const codes = Object.keys(errorCatalogue) as ErrorCode[]

test("OpenAI's shape", () => {
  for (const api of ['chat', 'completions', 'responses', 'embeddings', 'other'] as const) {
    assert.deepEqual(JSON.parse(renderErrorBody(api, 'model_not_found', 'No "x".', 'r1')), {
      error: {
        message: 'No "x".',
        type: 'invalid_request_error',
        param: null,
        code: 'model_not_found',
      },
    })
  }
})

test("Anthropic's shape", () => {
  const body = (code: ErrorCode) => JSON.parse(renderErrorBody('messages', code, 'text', 'r1'))
  assert.deepEqual(body('router_overloaded'), {
    type: 'error',
    error: { type: 'overloaded_error', message: 'text' },
    request_id: 'r1',
  })
  assert.equal(body('model_not_found').error.type, 'not_found_error')
  assert.equal(body('no_endpoint').error.type, 'overloaded_error')
  assert.equal(body('body_too_large').error.type, 'request_too_large')
  assert.equal(body('bad_request').error.type, 'invalid_request_error')
  assert.equal(body('internal').error.type, 'api_error')
  assert.equal(
    'request_id' in JSON.parse(renderErrorBody('count-tokens', 'internal', '', null)),
    false,
  )
})

test('an error event is one event, which a reader takes for an error and for no end', () => {
  for (const api of apis) {
    for (const code of codes) {
      const event = renderErrorEvent(api, code, `line one\nline two of ${code}`, 'r1')
      assert.match(event, /^(event: error\n)?data: \{[^\n]*\}\n\n$/)
      const reader = readAnswer(api, eventStream, event)
      assert.equal(reader.errorEvent, `line one\nline two of ${code}`)
      assert.equal(reader.complete, false)
      assert.equal(reader.firstTokenSeen, false)
    }
  }
})

test('the event is named where its clients look for the name', () => {
  const event = (api: Api) => renderErrorEvent(api, 'upstream_broken', 'x', null)
  assert.match(event('chat'), /^data: \{"error":/)
  assert.match(
    event('messages'),
    /^event: error\ndata: \{"type":"error","error":\{"type":"api_error"/,
  )
  assert.match(event('responses'), /^event: error\ndata: \{"type":"error","code":"upstream_broken"/)
})

/** What a client's iteration over the stream ends with. */
async function outcomeOf(stream: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown
  try {
    for await (const item of stream) last = item
  } catch (error) {
    return error
  }
  return last
}

const streamOf = (api: Api): Response =>
  new Response(renderErrorEvent(api, 'upstream_broken', 'The engine broke off.', 'r1'))

test("OpenAI's client raises the error", async () => {
  for (const api of ['chat', 'completions', 'responses'] as const) {
    const stream = Stream.fromSSEResponse(streamOf(api), new AbortController())
    const error = await outcomeOf(stream)
    assert.ok(error instanceof APIError)
    assert.equal(error.message, 'The engine broke off.')
    assert.equal(error.code, 'upstream_broken')
  }
})

test("Anthropic's client raises the error", async () => {
  const stream = AnthropicStream.fromSSEResponse(streamOf('messages'), new AbortController())
  const error = await outcomeOf(stream)
  assert.ok(error instanceof AnthropicError)
  assert.match(error.message, /api_error.*The engine broke off/)
})

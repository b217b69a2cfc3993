import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOk } from '../../test/support/prompts.ts'
import { apiOfPath } from './api.ts'
import { readRequest, spliceModel } from './read-request.ts'

const chatBody = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }

test('a path names its API, with trailing slashes and a query', () => {
  assert.equal(apiOfPath('/v1/chat/completions'), 'chat')
  assert.equal(apiOfPath('/v1/chat/completions/?x=1'), 'chat')
  assert.equal(apiOfPath('/v1/completions//'), 'completions')
  assert.equal(apiOfPath('/v1/responses'), 'responses')
  assert.equal(apiOfPath('/v1/embeddings'), 'embeddings')
  assert.equal(apiOfPath('/v1/messages'), 'messages')
  assert.equal(apiOfPath('/v1/messages/count_tokens'), 'count-tokens')
  assert.equal(apiOfPath('/v1/responses/resp_1'), 'other')
  assert.equal(apiOfPath('/'), 'other')
})

test('the fields that routing needs are read', () => {
  const request = readOk('chat', { ...chatBody, stream: true, max_completion_tokens: 7 })
  assert.equal(request.model, 'm')
  assert.equal(request.streaming, true)
  assert.equal(request.maxOutputTokens, 7)
  assert.equal(request.storesState, false)
  assert.equal(request.wantsUsage, false)
  assert.ok(request.prompt.bytes > 'userHello'.length)
})

test('limits on output are read from each API, and only when they are counts', () => {
  assert.equal(readOk('chat', { ...chatBody, max_tokens: 5 }).maxOutputTokens, 5)
  assert.equal(readOk('chat', { ...chatBody, max_tokens: 'many' }).maxOutputTokens, null)
  assert.equal(readOk('chat', { ...chatBody, max_tokens: -1 }).maxOutputTokens, null)
  assert.equal(readOk('responses', { input: 'x', max_output_tokens: 9 }).maxOutputTokens, 9)
})

test('a request for usage is recognised', () => {
  const streamed = { ...chatBody, stream: true }
  const wants = (extra: object) => readOk('chat', { ...streamed, ...extra }).wantsUsage
  assert.equal(wants({}), false)
  assert.equal(wants({ stream_options: { include_usage: true } }), true)
  assert.equal(wants({ stream_options: { include_usage: false } }), false)
  assert.equal(readOk('chat', chatBody).wantsUsage, true)
  assert.equal(readOk('messages', streamed).wantsUsage, true)
})

test('responses are stored unless told not to, chat completions only when told', () => {
  assert.equal(readOk('responses', { input: 'x' }).storesState, true)
  assert.equal(readOk('responses', { input: 'x', store: false }).storesState, false)
  assert.equal(readOk('chat', { ...chatBody, store: true }).storesState, true)
  const next = readOk('responses', { input: 'x', previous_response_id: 'resp_1' })
  assert.equal(next.previousResponseId, 'resp_1')
})

test('a body that is not understood says why, and what could be read of it', () => {
  const bad = (body: string) => readRequest('chat', Buffer.from(body), '')
  const reason = (body: string) => {
    const outcome = bad(body)
    return outcome.ok ? 'ok' : outcome.reason
  }
  assert.equal(reason(''), 'not-json')
  assert.equal(reason('{"model":'), 'not-json')
  assert.equal(reason('[1]'), 'not-an-object')
  assert.equal(reason('null'), 'not-an-object')
  const outcome = bad('{"model":"m","stream":true}')
  assert.ok(!outcome.ok)
  assert.equal(outcome.reason, 'unknown-shape')
  assert.equal(outcome.model, 'm')
  assert.equal(outcome.streaming, true)
  assert.deepEqual(outcome.modelSpan, { start: 9, end: 12 })
  assert.match(outcome.message, /messages/)
})

test('F111: an alias replaces the model alone, whatever stands around it', () => {
  const splice = (text: string) => {
    const body = Buffer.from(text)
    const outcome = readRequest('other', body, '')
    assert.ok(outcome.ok && outcome.request.modelSpan !== null, text)
    return Buffer.concat(spliceModel(body, outcome.request.modelSpan, 'new "name"')).toString()
  }
  const put = '"new \\"name\\""'
  for (const [before, after] of [
    ['{"seed":12345678901234567890, "model" : "a/b" ,"vendor":{"model":"x"}}', ''],
    ['{"messages":[{"model":"inner"},"model"],"x":"\\"model\\":\\"y\\"","model":"a/b"}', ''],
    ['{ "a":-1.5e3,"b":true,"c":null,"d":[[],{}],\n\t"mod\\u0065l":\r\n"a/b"}', ''],
    ['{"x":"\\\\","model":"a/b","z":"é日"}', ''],
  ]) {
    assert.equal(splice(before), (after || before).replace('"a/b"', put))
  }
  assert.equal(splice('{"model":"first","model":"a/b"}'), `{"model":"first","model":${put}}`)
  assert.equal(
    splice('{"model":"first","mod\\u0065l":"a"}'),
    `{"model":"first","mod\\u0065l":${put}}`,
  )
})

test('a model that is no string has no span', () => {
  for (const text of ['{}', '{"model":null}', '{"model":1}', '{"model":"a","model":{"x":"y"}}']) {
    const outcome = readRequest('other', Buffer.from(text), '')
    assert.ok(outcome.ok)
    assert.equal(outcome.request.model, null)
    assert.equal(outcome.request.modelSpan, null)
  }
})

/** A large prompt is read once, and none of its long texts is ever made into a string for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayStage } from '../support/gateway-stage.ts'
import { RawEngine } from '../support/raw-engine.ts'

test('F128: a body of 220 KB is parsed once, and little of it', async (t) => {
  const engine = await RawEngine.start(t, (call) => call.answer(200, '{}'))
  const stage = await GatewayStage.start(t, [engine])
  const content = 'a line of a prompt that is about as long as others are\\n'.repeat(4_000)
  const body = `{"model":"m","messages":[{"role":"user","content":"${content}"}]}`
  assert.ok(body.length > 220_000)
  const parse = JSON.parse
  const parsed: string[] = []
  t.mock.method(JSON, 'parse', (text: string, ...rest: []) => {
    if (text.includes('"messages"')) parsed.push(text)
    return parse(text, ...rest)
  })
  await stage.request('POST /v1/chat/completions', body, ['content-type: application/json']).over()
  assert.equal(engine.calls[0]!.body.length, body.length)
  assert.equal(parsed.length, 1, 'one parse')
  assert.ok(parsed[0]!.length < 4_096, `${parsed[0]!.length} characters were parsed`)
})

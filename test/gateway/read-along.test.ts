/** Reading along changes nothing: not what passes, not when, and it counts the right things. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GatewayStage } from '../support/gateway-stage.ts'
import { lastEvents, RawEngine, tokenEvent, wholeAnswer } from '../support/raw-engine.ts'
import { headerIn, seenBy } from '../support/seen-by-client.ts'

const firstTokens = 'warmpath_time_to_first_token_seconds_count'

const deltaEvent = (delta: object): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`

for (const field of ['content', 'reasoning', 'reasoning_content', 'zzz_unknown']) {
  test(`F011: a role is no first token, ${field} is`, async (t) => {
    const engine = await RawEngine.start(t)
    const stage = await GatewayStage.start(t, [engine])
    const client = stage.chat({ stream: true })
    const role = deltaEvent({ role: 'assistant', content: '' })
    const call = (await engine.call(0)).beginStream().chunk(role)
    await client.until('assistant')
    assert.equal(await stage.metric(firstTokens), 0)
    call.chunk(deltaEvent({ [field]: 'word' }))
    await client.until('word')
    assert.equal(await stage.metric(firstTokens), 1)
    call.chunk(lastEvents).endChunks()
    assert.ok((await seenBy(client)).whole)
  })
}

test('F012: not even half an event is held back', async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine])
  const client = stage.chat({ stream: true })
  const event = tokenEvent('halves')
  const call = (await engine.call(0)).beginStream().chunk(event.slice(0, 30))
  await client.until(event.slice(0, 30))
  call.chunk(event.slice(30) + lastEvents).endChunks()
  assert.equal((await seenBy(client)).body, event + lastEvents)
})

test('F001: any bytes in any pieces pass both ways as they are', async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine])
  const piece = fc.uint8Array({ minLength: 1, maxLength: 60 })
  const text = fc.constantFrom(
    'data: ',
    '\n\n',
    '\r\n',
    ': c\n',
    'event: error\n',
    '{"usage":',
    '漢',
  )
  const pieces = fc.array(
    fc.oneof(piece, text).map((one) => Buffer.from(one as string).toString('latin1')),
    { minLength: 1, maxLength: 12 },
  )
  const type = fc.constantFrom('text/event-stream', 'application/json', 'audio/wav')
  let calls = 0
  await fc.assert(
    fc.asyncProperty(pieces, pieces, type, fc.boolean(), async (up, down, contentType, chunked) => {
      const chunks = up.map((one) => `${one.length.toString(16)}\r\n${one}\r\n`).join('')
      const client = stage
        .client()
        .send('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n')
        .send(chunked ? 'transfer-encoding: chunked\r\n\r\n' : '')
        .send(chunked ? `${chunks}0\r\n\r\n` : `content-length: ${up.join('').length}\r\n\r\n`)
      if (!chunked) for (const one of up) client.send(one)
      const call = await engine.call(calls++)
      assert.equal(call.body, up.join(''))
      call.begin(200, [`content-type: ${contentType}`], null)
      for (const one of down) call.chunk(one)
      call.endChunks()
      const { status, body } = await seenBy(client)
      const sent = down.join('')
      assert.equal(status, 200)
      // A stream without its own end is told to be cut, behind all that came.
      const told = contentType === 'text/event-stream' ? body.slice(0, sent.length) : body
      assert.equal(told, sent)
    }),
    { numRuns: 60 },
  )
})

test('headers of an answer keep their order, case and repetition', async (t) => {
  const lines = ['Set-Cookie: a=1', 'X-Odd-Case: Yes, it is', 'Set-Cookie: b=2']
  const engine = await RawEngine.start(t, (call) => call.answer(200, wholeAnswer('x'), lines))
  const stage = await GatewayStage.start(t, [engine])
  const { head } = await seenBy(stage.chat())
  const kept = head.split('\r\n').filter((line) => /^(set-cookie|x-odd)/i.test(line))
  assert.deepEqual(kept, lines)
})

test('F123: an engine cannot pass for the router either', async (t) => {
  const forged = ['x-warmpath-endpoint: http://evil', 'x-gateway-destination-endpoint: evil:1']
  const engine = await RawEngine.start(t, (call) => call.answer(200, wholeAnswer('x'), forged))
  const stage = await GatewayStage.start(t, [engine])
  const { head } = await seenBy(stage.chat())
  assert.equal(headerIn(head, 'x-warmpath-endpoint'), engine.url)
  assert.doesNotMatch(head, /evil/)
})

test('F111: an alias in a form replaces the model and nothing else', async (t) => {
  const engine = await RawEngine.start(t, (call) => call.answer(200, '{}'))
  const stage = await GatewayStage.start(t, [engine], { config: { aliases: { 'whisper-1': 'm' } } })
  const audio = Buffer.from(Array.from({ length: 2_000 }, (_, i) => i % 256)).toString('latin1')
  const form = [
    '--b',
    'content-disposition: form-data; name="model"',
    '',
    'whisper-1',
    '--b',
    'content-disposition: form-data; name="file"; filename="whisper-1.wav"',
    '',
    audio,
    '--b--',
    '',
  ].join('\r\n')
  const headers = ['content-type: multipart/form-data; boundary=b']
  const body = Buffer.from(form, 'latin1')
  await stage.request('POST /v1/audio/transcriptions', body, headers).over()
  assert.equal(engine.calls[0]!.body, form.replace('\r\nwhisper-1\r\n', '\r\nm\r\n'))
})

test('F111: an alias is replaced for Anthropic’s messages and counts too', async (t) => {
  const engine = await RawEngine.start(t, (call) => call.answer(200, '{"input_tokens":1}'))
  const stage = await GatewayStage.start(t, [engine], { config: { aliases: { claude: 'm' } } })
  for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
    const body = '{ "max_tokens" : 12345678901234567890, "model":"claude","messages":[ ] }'
    await stage.request(`POST ${path}`, body, ['content-type: application/json']).over()
    assert.equal(engine.calls.at(-1)!.body, body.replace('claude', 'm'))
  }
})

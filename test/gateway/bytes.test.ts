/** Bytes are the client's and the engine's: what arrives is what was sent. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { GatewayStage } from '../support/gateway-stage.ts'
import { type EngineCall, lastEvents, RawEngine, tokenEvent } from '../support/raw-engine.ts'
import { headerIn, seenBy } from '../support/seen-by-client.ts'

const chatPath = 'POST /v1/chat/completions'
const jsonType = ['content-type: application/json']

/** Nothing in here survives a parser and a writer. */
const oddBody =
  '{"zzz": {"b":1,"a":[1.0, 2.50, 1e3, 12345678901234567890123]},   "model":"m",' +
  '"messages":[ {"content":"h\\u00e9 \\/ x\\ud83d\\ude00","role":"user","extra":true} ],' +
  '"temperature":1.0,"chat_template_kwargs":{"enable_thinking":false},\n\t"seed":-0 }'

test('F109: a body arrives byte for byte, unknown fields and big numbers included', async (t) => {
  const engine = await RawEngine.start(t, (call) => call.answer(200, '{}'))
  const stage = await GatewayStage.start(t, [engine])
  await stage.request(chatPath, oddBody, jsonType).over()
  assert.equal(engine.calls[0]!.body, oddBody)
})

test('F109: a large body arrives byte for byte, in whatever pieces it came', async (t) => {
  const engine = await RawEngine.start(t, (call) => call.answer(200, '{}'))
  const stage = await GatewayStage.start(t, [engine])
  const content = 'every line is a little different: \\"x\\"\\n'.repeat(20_000)
  const body = `{"model":"m","messages":[{"role":"user","content":"${content}"}]}`
  const head = `${chatPath} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`
  const whole = stage.client().send(`${head}content-length: ${body.length}\r\n\r\n`)
  for (let at = 0; at < body.length; at += 70_001) whole.send(body.slice(at, at + 70_001))
  await whole.over()
  const chunked = stage.client().send(`${head}transfer-encoding: chunked\r\n\r\n`)
  for (let at = 0; at < body.length; at += 70_001) {
    const piece = body.slice(at, at + 70_001)
    chunked.send(`${piece.length.toString(16)}\r\n${piece}\r\n`)
  }
  await chunked.send('0\r\n\r\n').over()
  assert.equal(engine.calls.length, 2)
  for (const call of engine.calls) assert.ok(call.body === body, 'the same bytes')
})

test('F111: an alias replaces the model and nothing else', async (t) => {
  const engine = await RawEngine.start(t, (call) => call.answer(200, '{}'))
  const stage = await GatewayStage.start(t, [engine], { config: { aliases: { 'gpt-x': 'm' } } })
  const body = oddBody.replace('"model":"m"', '"model" : "gpt-x"')
  await stage.request(chatPath, body, jsonType).over()
  assert.equal(engine.calls[0]!.body, body.replace('"gpt-x"', '"m"'))
  assert.equal(engine.calls[0]!.header('content-length'), String(body.length - 4))
})

test('F117: an answer with log-probabilities arrives byte for byte', async (t) => {
  const answer =
    '{"id":"c" ,"choices":[{"message":{"content":"x"},"logprobs":{"content":[{"token":"x",' +
    '"logprob":-0.10,"bytes":[120],"top_logprobs":[]}]}}],"prompt_logprobs":[null,{"9":1e-9}]}'
  const engine = await RawEngine.start(t, (call) => call.answer(200, answer, ['x-engine: 1']))
  const stage = await GatewayStage.start(t, [engine])
  const { body, head, whole } = await seenBy(stage.chat({ logprobs: true }))
  assert.ok(whole)
  assert.equal(body, answer)
  assert.equal(headerIn(head, 'x-engine'), '1')
})

describe('streams', () => {
  const pieces: Record<string, readonly string[]> = {
    'F001: events cut anywhere, and several in one write': cutAnywhere(
      tokenEvent('one') + tokenEvent('zwölf 漢') + tokenEvent('three') + lastEvents,
    ),
    'F001: lines that end in CRLF, and comments': [
      ': hello\r\n\r\n',
      tokenEvent('one').replaceAll('\n', '\r\n'),
      lastEvents.replaceAll('\n', '\r\n'),
    ],
    'F009: argument fragments of a tool call that carry an index only': [
      ...Array.from({ length: 50 }, (_, i) =>
        event({ tool_calls: [{ index: 0, function: { arguments: `${i},` } }] }),
      ),
      lastEvents,
    ],
    'F011: deltas with reasoning, and with a field that nobody knows': [
      event({ reasoning: 'a' }),
      event({ reasoning_content: 'b' }),
      event({ zzz_unknown: 'c' }),
      lastEvents,
    ],
    'F008: usage with choices, in an empty delta, and at the end': [
      `data: {"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n`,
      `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}\n\n`,
      `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3}}\n\ndata: [DONE]\n\n`,
    ],
  }
  for (const [title, chunks] of Object.entries(pieces)) {
    test(title, async (t) => {
      const engine = await RawEngine.start(t, (call) => streams(call, chunks))
      const stage = await GatewayStage.start(t, [engine])
      const { body, whole } = await seenBy(stage.chat({ stream: true }))
      assert.ok(whole)
      assert.equal(body, chunks.join(''))
      assert.equal(await stage.metric('warmpath_requests_total', 'outcome="done"'), 1)
      assert.equal(await stage.metric('warmpath_time_to_first_token_seconds_count'), 1)
    })
  }

  test('F012: each event arrives before the next is sent, with the hint not to buffer', async (t) => {
    const engine = await RawEngine.start(t)
    const stage = await GatewayStage.start(t, [engine])
    const client = stage.chat({ stream: true })
    const call = (await engine.call(0)).beginStream()
    for (const text of ['one', 'two', 'three']) {
      call.chunk(tokenEvent(text))
      await client.until(text)
    }
    call.chunk(lastEvents).endChunks()
    const { head } = await seenBy(client)
    assert.equal(headerIn(head, 'x-accel-buffering'), 'no')
  })

  test('F115: Anthropic’s events keep their names and order', async (t) => {
    const events = [
      'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":9}}}\n\n',
      'event: ping\ndata: {"type": "ping"}\n\n',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}\n\n',
      'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":1}}\n\n',
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ]
    const engine = await RawEngine.start(t, (call) => streams(call, events))
    const stage = await GatewayStage.start(t, [engine])
    const path = '/v1/messages?beta=true'
    const { body, whole } = await seenBy(stage.chat({ stream: true, max_tokens: 9 }, { path }))
    assert.ok(whole)
    assert.equal(body, events.join(''))
    assert.equal(engine.calls[0]!.line, `POST ${path}`)
  })

  test('F115: count_tokens goes where the prompt is, unread', async (t) => {
    const script = (call: EngineCall) => call.answer(200, '{"input_tokens":9}')
    const engines = await Promise.all([1, 2].map(() => RawEngine.start(t, script)))
    const stage = await GatewayStage.start(t, engines, { config: { policy: 'warmpath' } })
    const prompt = (i: number) => ({
      messages: [{ role: 'user', content: `${i} of four prompts. `.repeat(3_000) }],
      max_tokens: 9,
    })
    const sentTo = async (i: number, path: string): Promise<string | null> => {
      const { head, body } = await seenBy(stage.chat(prompt(i), { path }))
      assert.equal(body, '{"input_tokens":9}')
      return headerIn(head, 'x-warmpath-endpoint')
    }
    for (let i = 0; i < 4; i++) {
      const home = await sentTo(i, '/v1/messages')
      assert.equal(await sentTo(i, '/v1/messages/count_tokens'), home)
    }
    assert.ok(
      engines.every(({ calls }) => calls.length > 0),
      'both are homes',
    )
  })
})

describe('F007: compression', () => {
  const asks = { headers: ['accept-encoding: gzip, br'] }

  test('an engine is not asked to compress what is read along', async (t) => {
    const engine = await RawEngine.start(t, (call) => call.answer(200, '{}'))
    const stage = await GatewayStage.start(t, [engine])
    await stage.chat({}, asks).over()
    assert.equal(engine.calls[0]!.header('accept-encoding'), null)
  })

  test('what is not read along may be compressed as the client likes', async (t) => {
    const engine = await RawEngine.start(t, (call) => call.answer(200, '{}'))
    const stage = await GatewayStage.start(t, [engine])
    await stage.chat({}, { ...asks, path: '/v1/rerank' }).over()
    assert.equal(engine.calls[0]!.header('accept-encoding'), 'gzip, br')
  })

  test('an engine that compresses all the same is passed on, and that is counted', async (t) => {
    const zipped = gzipSync(tokenEvent('hello') + lastEvents).toString('latin1')
    const engine = await RawEngine.start(t, (call) => {
      call.begin(200, ['content-type: text/event-stream', 'content-encoding: gzip'], null)
      call.chunk(zipped).endChunks()
    })
    const stage = await GatewayStage.start(t, [engine])
    const { body, head, whole } = await seenBy(stage.chat({ stream: true }, asks))
    assert.ok(whole)
    assert.equal(headerIn(head, 'content-encoding'), 'gzip')
    const text = gunzipSync(Buffer.from(body, 'latin1')).toString()
    assert.equal(text, tokenEvent('hello') + lastEvents)
    const counted = await stage.metric('warmpath_fallbacks_total', 'answer-not-understood')
    assert.equal(counted, 1)
  })
})

function event(delta: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`
}

function cutAnywhere(text: string): string[] {
  const bytes = Buffer.from(text).toString('latin1')
  const cuts = [0, 1, 9, 60, 61, 150, 190, 196, 199, 200, 330, 500, bytes.length]
  return cuts.slice(1).map((end, i) => bytes.slice(cuts[i], end))
}

function streams(call: EngineCall, chunks: readonly string[]): void {
  call.beginStream()
  for (const chunk of chunks) if (chunk !== '') call.chunk(chunk)
  call.endChunks()
}

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { profileNamed } from '../engine/profiles.ts'
import { type Emulator, startEmulator } from './start-emulator.ts'

/** An exchange with a real vLLM 0.32.0 that served a tiny model. */
interface Recorded {
  readonly method: string
  readonly path: string
  readonly request: unknown
  readonly status: number
  readonly contentType: string | null
  readonly body: string
}

const file = new URL('./vllm-0.32.recorded.json', import.meta.url)
const recorded: readonly Recorded[] = JSON.parse(readFileSync(file, 'utf8'))

let emulator: Emulator
before(async () => {
  const profile = { ...profileNamed('llama-3.1-8b-h100'), contextTokensMax: 32_768 }
  emulator = await startEmulator({ profile, timeScale: 20, models: ['tiny'] })
})
after(() => emulator.close())

/** Fields whose text is the engine's own business. */
const freeText = new Set(['id', 'item_id', 'content', 'text', 'delta', 'tokens'])

/** A JSON value without what differs from engine to engine: numbers, ids and generated text. */
function shape(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) {
    return field === 'tokens' ? 'tokens' : value.map((item) => shape(item, field))
  }
  if (typeof value === 'number') return field === 'code' ? value : 'number'
  if (typeof value === 'string') return freeText.has(field) ? shapeOfText(value) : value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shape(item, key)]))
}

/** An empty text is not the same as one with words in it, and ids keep their prefix. */
function shapeOfText(text: string): string {
  if (text === '') return ''
  return /^(chatcmpl-|cmpl-|resp_|msg_|modelperm-|embd-)/.exec(text)?.[0] ?? 'text'
}

/** Every event of a stream, framing included, with its JSON reduced to its shape. */
function shapeOfStream(body: string): string[] {
  assert.ok(body.endsWith('\n\n'), 'a stream ends with a blank line')
  return body
    .slice(0, -2)
    .split('\n\n')
    .map((event) => {
      const match = /^(event: \S+\n)?data: (.*)$/.exec(event)
      assert.ok(match, `an event has one data line: ${JSON.stringify(event)}`)
      const data = match[2] === '[DONE]' ? match[2] : JSON.stringify(shape(JSON.parse(match[2])))
      return `${match[1] ?? ''}data: ${data}`
    })
}

for (const exchange of recorded) {
  const { method, path, request, status, contentType, body } = exchange
  const sent = typeof request === 'string' ? request : JSON.stringify(request)
  test(`answers as vLLM does: ${method} ${path} ${sent?.slice(0, 60)} → ${status}`, async () => {
    const response = await fetch(`${emulator.urls[0]}${path}`, {
      method,
      ...(request === null ? {} : { body: sent }),
      headers: { 'content-type': 'application/json' },
    })
    const answer = await response.text()
    assert.equal(response.status, status)
    assert.equal(response.headers.get('content-type'), contentType)
    if (contentType?.startsWith('text/event-stream')) {
      assert.deepEqual(shapeOfStream(answer), shapeOfStream(body))
    } else if (status >= 400 || body === '') {
      assert.equal(answer, body)
    } else {
      const text = (json: string) => JSON.stringify(shape(JSON.parse(json)))
      assert.equal(text(answer), text(body))
    }
  })
}

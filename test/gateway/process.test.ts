/** The real processes: a drain, an impatient operator, an engine killed under load. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import OpenAI from 'openai'
import type { RouterStatus } from '../../src/observe/status.ts'
import { Program } from '../support/program.ts'
import { RawClient } from '../support/raw-client.ts'
import { lastEvents, RawEngine, tokenEvent } from '../support/raw-engine.ts'

const timeout = { timeout: 60_000 }

interface Serving {
  readonly program: Program
  readonly address: string
}

/** `warmpath serve` before these engines, all of them known to be well. */
async function serve(
  t: TestContext,
  urls: readonly string[],
  ...flags: string[]
): Promise<Serving> {
  const program = new Program(t, ['serve', ...urls, '--port', '0', '--host', '127.0.0.1', ...flags])
  const address = await program.says(/router\.listening.*(http:[^" ]+)/)
  for (const url of urls) await program.says(new RegExp(`endpoint\\.up.*${url}`))
  return { program, address }
}

function chat(address: string, fields: object, client?: RawClient): RawClient {
  const body = JSON.stringify({
    model: 'm',
    messages: [{ role: 'user', content: 'hello' }],
    ...fields,
  })
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: r\r\ncontent-length: ${body.length}\r\n\r\n`
  return (client ?? new RawClient(Number(new URL(address).port))).send(head + body)
}

test('SIGTERM: what runs finishes, nothing new is taken, exit 0', timeout, async (t) => {
  const engine = await RawEngine.start(t, (call) => call.beginStream().chunk(tokenEvent('one')))
  const { program, address } = await serve(t, [engine.url])
  const port = Number(new URL(address).port)
  const stream = chat(address, { stream: true })
  t.after(() => stream.close())
  await stream.until('one')
  program.signal('SIGTERM')
  await program.says(/drain/)
  const late = connect(port, '127.0.0.1')
  const [error] = await once(late, 'error')
  // The listener may close while the connection waits in its queue.
  assert.match(error.code, /^(ECONNREFUSED|ECONNRESET)$/)
  const [call] = engine.calls
  call!.chunk(tokenEvent('two'))
  await stream.until('two')
  call!.chunk(lastEvents).endChunks()
  const { text } = await stream.over()
  assert.ok(text.endsWith('[DONE]\n\n\r\n0\r\n\r\n'), text.slice(-80))
  assert.deepEqual(await program.exit(), { status: 0, signal: null })
  assert.equal(engine.calls.length, 1)
})

test('SIGTERM with nothing running: exit 0', timeout, async (t) => {
  const engine = await RawEngine.start(t)
  const { program } = await serve(t, [engine.url])
  assert.deepEqual(await program.signal('SIGTERM').exit(), { status: 0, signal: null })
})

test('a drain that takes too long ends the streams with an error, exit 0', timeout, async (t) => {
  const engine = await RawEngine.start(t, (call) => call.beginStream().chunk(tokenEvent('one')))
  const { program, address } = await serve(t, [engine.url], '--drain-timeout', '100ms')
  const stream = chat(address, { stream: true })
  t.after(() => stream.close())
  await stream.until('one')
  program.signal('SIGTERM')
  const { text } = await stream.over()
  assert.match(text, /"code":"shutting_down"/)
  assert.ok(!text.endsWith('0\r\n\r\n'))
  await engine.calls[0]!.closed()
  assert.deepEqual(await program.exit(), { status: 0, signal: null })
})

test('a second signal ends it at once', timeout, async (t) => {
  const engine = await RawEngine.start(t, (call) => call.beginStream().chunk(tokenEvent('one')))
  const { program, address } = await serve(t, [engine.url])
  const stream = chat(address, { stream: true })
  t.after(() => stream.close())
  await stream.until('one')
  program.signal('SIGTERM')
  await program.says(/drain/)
  program.signal('SIGTERM')
  assert.deepEqual(await program.exit(), { status: 143, signal: null })
  await engine.calls[0]!.closed()
})

interface Asked {
  readonly streaming: boolean
  /** Characters of the answer that came. */
  readonly came: number
  readonly error: unknown
}

/** One request through the official client, which must not try again by itself. */
async function ask(client: OpenAI, number: number, streaming: boolean): Promise<Asked> {
  const request = {
    model: 'meta-llama/Llama-3.1-8B-Instruct',
    messages: [{ role: 'user' as const, content: `Question ${number}: ${'why? '.repeat(200)}` }],
    max_tokens: 40,
  }
  let came = 0
  try {
    if (streaming) {
      const stream = await client.chat.completions.create({ ...request, stream: true })
      for await (const { choices } of stream) came += choices[0]?.delta.content?.length ?? 0
    } else {
      const { choices } = await client.chat.completions.create(request)
      came = choices[0]!.message.content!.length
    }
    return { streaming, came, error: null }
  } catch (error) {
    return { streaming, came, error }
  }
}

async function statusOf(address: string): Promise<RouterStatus> {
  return (await (await fetch(`${address}/status`)).json()) as RouterStatus
}

/** When the engine has several requests, most of which have not begun to answer. */
async function busy(address: string, url: string): Promise<void> {
  for (;;) {
    const { endpoints } = await statusOf(address)
    if (endpoints.find((endpoint) => endpoint.url === url)!.inFlight >= 4) return
  }
}

test(
  'kill -9 of one of two engines under load loses nothing that had not begun',
  timeout,
  async (t) => {
    const engines = [1, 2].map(
      () => new Program(t, ['emulate', '--replicas', '1', '--port', '0', '--time-scale', '1']),
    )
    const urls = await Promise.all(engines.map((engine) => engine.says(/^(http:\/\/\S+)/)))
    const { address } = await serve(t, urls)
    const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: 'none', maxRetries: 0 })
    const requests = 90
    const atOnce = 12
    const killBehind = 20
    const results: Asked[] = []
    let next = 0
    const user = async (): Promise<void> => {
      while (next < requests) {
        const number = next++
        if (number === killBehind) {
          await busy(address, urls[0]!)
          engines[0]!.signal('SIGKILL')
        }
        results.push(await ask(client, number, number % 3 === 0))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, user))
    assert.equal(results.length, requests)
    const lost = results.filter(({ error }) => error !== null)
    const lostUnbegun = lost.filter(({ streaming, came }) => !streaming || came === 0)
    assert.deepEqual(lostUnbegun, [])
    for (const { came } of lost) assert.ok(came > 0)
    const metrics = await (await fetch(`${address}/metrics`)).text()
    const retried = /^warmpath_retries_total\{cause="(closed|reset|refused)"\} [1-9]/m.test(metrics)
    assert.ok(retried, 'some had been sent to the engine that died')
    assert.ok(lost.length < atOnce, `${lost.length} streams were broken`)
    const status = await statusOf(address)
    assert.equal(status.openRequests, 0)
    const dead = status.endpoints.find(({ url }) => url === urls[0])!
    assert.deepEqual([dead.routable, dead.reason], [false, 'connection refused'])
  },
)

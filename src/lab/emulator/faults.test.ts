import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, afterEach, before, test } from 'node:test'
import { profileNamed } from '../engine/profiles.ts'
import type { Faults } from './faults.ts'
import type { Replica } from './replica.ts'
import { type Emulator, startEmulator } from './start-emulator.ts'

const profile = profileNamed('llama-3.1-8b-h100')
const tokens = 10
// Ten tokens and `[DONE]`.
const events = tokens + 1

let emulator: Emulator
let replica: Replica
before(async () => {
  emulator = await startEmulator({ profile, timeScale: 50, models: ['m'] })
  replica = emulator.replicas[0]
})
afterEach(() => replica.setFaults({}))
after(() => emulator.close())

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** The pieces in which the body arrived: one for each chunk of the transfer coding. */
  readonly pieces: readonly Buffer[]
  readonly body: string
  /** How the body ended, where it did not end well. */
  readonly error: string | undefined
}

/** One completion of ten tokens, read to its end. */
async function complete(fields: object = {}, url = replica.url): Promise<Answer> {
  const sent = request(`${url}/v1/completions`, { method: 'POST', agent: false })
  sent.end(JSON.stringify({ prompt: 'sea', max_tokens: tokens, ignore_eos: true, ...fields }))
  sent.on('error', () => {})
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const pieces: Buffer[] = []
  const error = await new Promise<string | undefined>((resolve) => {
    response.on('data', (piece: Buffer) => pieces.push(piece))
    response.on('error', (cause: NodeJS.ErrnoException) => resolve(cause.code ?? cause.message))
    response.on('end', () => resolve(undefined))
  })
  const { statusCode: status = 0, headers } = response
  return { status, headers, pieces, body: Buffer.concat(pieces).toString(), error }
}

const stream = (url?: string) => complete({ stream: true }, url)
/** A stream without what differs from one request to the next. */
const bare = (body: string): string =>
  body.replace(/"id":"[^"]*","object":"[^"]*","created":\d+/g, '')
const eventsOf = (body: string): number => body.split('\n\n').length - 1

async function withFaults(faults: Faults): Promise<Answer> {
  replica.setFaults(faults)
  return stream()
}

test('sound: every event is a write of its own', async () => {
  const { pieces, body, error } = await stream()
  assert.equal(error, undefined)
  assert.equal(pieces.length, events)
  assert.equal(eventsOf(body), events)
  assert.ok(body.endsWith('data: [DONE]\n\n'))
})

test('splitBytes and eventsPerWrite change the pieces, not the bytes', async () => {
  const sound = bare((await stream()).body)
  const split = await withFaults({ splitBytes: 3 })
  assert.ok(split.pieces.every((piece) => piece.length <= 3))
  assert.equal(bare(split.body), sound)
  const bundled = await withFaults({ eventsPerWrite: 4 })
  assert.equal(bundled.pieces.length, Math.ceil(events / 4))
  assert.equal(bare(bundled.body), sound)
})

test('crlf ends lines as some servers do', async () => {
  const sound = bare((await stream()).body)
  const { body } = await withFaults({ crlf: true })
  assert.equal(bare(body), sound.replaceAll('\n', '\r\n'))
})

test('gzip compresses, and still shows each event as it comes', async () => {
  const sound = bare((await stream()).body)
  const { headers, pieces } = await withFaults({ gzip: true })
  assert.equal(headers['content-encoding'], 'gzip')
  assert.ok(pieces.length >= events)
  const response = await fetch(`${replica.url}/v1/completions`, {
    method: 'POST',
    body: JSON.stringify({ prompt: 'sea', max_tokens: tokens, ignore_eos: true, stream: true }),
  })
  assert.equal(bare(await response.text()), sound)
})

test('a stall of some time delays what follows; one without end holds it back', async () => {
  const late = await withFaults({ stall: { afterEvents: 2, ms: 10 } })
  assert.equal(eventsOf(late.body), events)

  replica.setFaults({ stall: { afterEvents: 3, ms: null } })
  const sent = request(`${replica.url}/v1/completions`, { method: 'POST', agent: false })
  sent.end(JSON.stringify({ prompt: 'sky', max_tokens: tokens, ignore_eos: true, stream: true }))
  const finished = replica.stats().finishedRequests
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let body = ''
  response.on('data', (piece) => {
    body += piece
  })
  response.on('error', () => {})
  await until(() => replica.stats().finishedRequests > finished && eventsOf(body) === 3)
  assert.equal(eventsOf(body), 3)
  sent.destroy()
})

test('headers can be late', async () => {
  const { wall } = replica.options
  const startMs = wall.nowMs()
  const { status } = await withFaults({ headersDelayMs: 20 })
  assert.equal(status, 200)
  assert.ok(wall.nowMs() - startMs >= 20)
})

test('an answer breaks off at a byte or behind an event, in four ways', async () => {
  const atByte = await withFaults({ breakOff: { atByte: 100, how: 'reset' } })
  assert.equal(atByte.body.length, 100)
  assert.equal(atByte.error, 'ECONNRESET')

  const reset = await withFaults({ breakOff: { afterEvents: 4, how: 'reset' } })
  assert.deepEqual([eventsOf(reset.body), reset.error], [4, 'ECONNRESET'])

  const closed = await withFaults({ breakOff: { afterEvents: 4, how: 'close' } })
  assert.deepEqual([eventsOf(closed.body), closed.error], [4, 'ECONNRESET'])

  const cut = await withFaults({ breakOff: { afterEvents: 4, how: 'end' } })
  assert.deepEqual([eventsOf(cut.body), cut.error], [4, undefined])
  assert.doesNotMatch(cut.body, /DONE|"finish_reason":"/)

  const failed = await withFaults({ breakOff: { afterEvents: 4, how: 'error' } })
  const [error, done] = failed.body.trimEnd().split('\n\n').slice(4)
  assert.equal(JSON.parse(error.slice('data: '.length)).error.code, 500)
  assert.equal(done, 'data: [DONE]')

  replica.setFaults({ breakOff: { atByte: 50, how: 'reset' } })
  const whole = await complete()
  assert.deepEqual([whole.body.length, whole.error], [50, 'ECONNRESET'])
})

test('what was broken off frees its memory', async () => {
  await withFaults({ breakOff: { afterEvents: 1, how: 'reset' } })
  await until(() => replica.stats().running === 0)
  assert.equal(replica.stats().kvUsage, 0)
})

test('health can be late, bad or silent', async () => {
  const health = (signal?: AbortSignal) =>
    fetch(`${replica.url}/health`, signal === undefined ? {} : { signal })
  replica.setFaults({ health: { status: 503, delayMs: 5 } })
  assert.equal((await health()).status, 503)
  replica.setFaults({ health: { status: null } })
  const received = replica.stats().httpRequests
  const gone = new AbortController()
  const silent = health(gone.signal)
  await until(() => replica.stats().httpRequests > received)
  gone.abort()
  await assert.rejects(silent, { name: 'AbortError' })
})

test('metrics can be missing, renamed, wrong or another page', async () => {
  const page = async (metrics: Faults['metrics']) => {
    replica.setFaults({ metrics })
    const response = await fetch(`${replica.url}/metrics`)
    return `${response.status} ${await response.text()}`
  }
  assert.match(await page({ status: 500 }), /^500 /)
  assert.equal(await page({ page: 'nonsense' }), '200 nonsense')
  const running = 'vllm:num_requests_running'
  assert.doesNotMatch(await page({ without: [running] }), new RegExp(running))
  assert.match(await page({ rename: { [running]: 'vllm:busy' } }), /\nvllm:busy\{/)
  assert.match(await page({ values: { [running]: 'NaN' } }), new RegExp(`\n${running}{.*} NaN\n`))
})

test('a path can be missing', async () => {
  replica.setFaults({ missingPaths: ['/v1/models'] })
  assert.equal((await fetch(`${replica.url}/v1/models`)).status, 404)
  assert.equal((await fetch(`${replica.url}/version`)).status, 200)
})

test('the next requests get an instant error, those behind them do not', async () => {
  const body = '{"error":"busy"}'
  replica.setFaults({ error: { status: 429, body, retryAfterS: 7, requests: 2 } })
  for (let i = 0; i < 2; i++) {
    const refused = await complete()
    assert.equal(refused.status, 429)
    assert.equal(refused.body, body)
    assert.equal(refused.headers['retry-after'], '7')
  }
  assert.equal((await complete()).status, 200)
})

test('a server that shuts down refuses new requests while its health is green', async () => {
  replica.setFaults({ rejectNew: true })
  const refused = await complete()
  assert.equal(refused.status, 500)
  assert.match(refused.body, /cannot schedule new futures after shutdown/)
  assert.equal((await fetch(`${replica.url}/health`)).status, 200)
})

test('a sleeping engine is healthy and silent, and goes on when it wakes', async () => {
  replica.setFaults({ asleep: true })
  const received = replica.stats().httpRequests
  const answer = complete()
  await until(() => replica.stats().httpRequests > received)
  assert.equal((await fetch(`${replica.url}/health`)).status, 200)
  const page = await (await fetch(`${replica.url}/metrics`)).text()
  assert.match(page, /engine_sleep_state\{.*sleep_state="awake"\} 0\.0/)
  assert.equal(replica.stats().running, 0)
  replica.setFaults({})
  assert.equal((await answer).status, 200)
})

test('an engine that ignores aborts computes on', async () => {
  replica.setFaults({ ignoreAborts: true })
  const before = replica.stats()
  const gone = new AbortController()
  const body = JSON.stringify({ prompt: 'x', max_tokens: 500, ignore_eos: true })
  const { signal } = gone
  const answer = fetch(`${replica.url}/v1/completions`, { method: 'POST', body, signal })
  answer.catch(() => {})
  await until(() => replica.stats().running === 1)
  gone.abort()
  await until(() => replica.stats().finishedRequests > before.finishedRequests)
  assert.equal(replica.stats().abortedRequests, before.abortedRequests)
})

test('a degraded engine takes longer, in its own time', async () => {
  const busyMs = async (faults: Faults) => {
    const before = replica.stats().busyMs
    await withFaults(faults)
    return replica.stats().busyMs - before
  }
  await stream()
  const sound = await busyMs({})
  assert.ok(Math.abs((await busyMs({ slowdown: 3 })) / sound - 3) < 0.01)
})

test('usage can leave out what was cached', async () => {
  replica.setFaults({ withoutCachedTokens: true })
  assert.equal(JSON.parse((await complete()).body).usage.prompt_tokens_details, null)
})

test('faults are set and read by HTTP, and a wrong one is refused', async () => {
  const url = `${replica.url}/emulator/faults`
  const set = (body: string) => fetch(url, { method: 'POST', body })
  assert.equal((await set('{"rejectNew":true}')).status, 200)
  assert.deepEqual(replica.faults, { rejectNew: true })
  assert.equal((await set('{"rejectNow":true}')).status, 400)
  assert.deepEqual(await (await fetch(url)).json(), { rejectNew: true })
  assert.equal((await set('{}')).status, 200)
  assert.equal((await complete()).status, 200)
})

test('a script sets faults at their times', async () => {
  const steps = [
    { atMs: 0, faults: { rejectNew: true } },
    { atMs: 1, replica: 1, faults: {} },
  ]
  const scripted = await startEmulator({ profile, replicas: 2, script: steps })
  const [first, second] = scripted.replicas
  await until(() => first.faults.rejectNew === true && second.faults.rejectNew === undefined)
  await scripted.close()
})

test('a script restarts a replica, and so does an admin call', async () => {
  const scripted = await startEmulator({ profile, script: [{ atMs: 1, restart: {} }] })
  const [one] = scripted.replicas
  await until(() => one.stats().lives === 2 && one.listening)
  const answer = await fetch(`${one.url}/emulator/restart`, { method: 'POST' })
  assert.deepEqual(await answer.json(), { restarting: true })
  await until(() => one.stats().lives === 3 && one.listening)
  assert.equal((await fetch(`${one.url}/health`)).status, 200)
  await scripted.close()
})

test('a slow start refuses connections, then says that it is not ready', async () => {
  const slow = await startEmulator({ profile })
  const [one] = slow.replicas
  const restarted = one.restart({ downMs: 30, unreadyMs: 60_000 })
  await assert.rejects(fetch(`${one.url}/health`))
  await restarted
  assert.equal((await fetch(`${one.url}/health`)).status, 503)
  await slow.close()
})

/** Looks again after everything that is due has run. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

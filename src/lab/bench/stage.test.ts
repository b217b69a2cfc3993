/** Stages against servers that answer, stall, refuse and break off. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { realTimeScheduler } from '../../io/real-time.ts'
import { BenchTarget } from './bench-target.ts'
import type { TaskSource } from './bench-task.ts'
import { SingleRequests } from './single-requests.ts'
import { Stage } from './stage.ts'
import { type StageFigures, stageFigures } from './stage-figures.ts'
import type { StagePlan } from './stage-load.ts'

const slo = { ttftMs: 60_000, tpotMs: null, e2eMs: null }
const scheduler = realTimeScheduler()
const never = new AbortController().signal

/** 40 requests, of which the first 20 are warm-up. */
const plan: StagePlan = {
  load: { kind: 'rate', perSecond: 100, arrivals: 'constant' },
  warmUpMs: 205,
  durationMs: 200,
  drainMs: 30_000,
  timeoutMs: 30_000,
  seed: 1,
}

const requests = (seed: number): TaskSource =>
  new SingleRequests({ promptTokens: 20, outputTokens: 3, prefixes: 0, prefixTokens: 0 }, seed, 0)

test('an open loop sends what it was to send, and measures what is after the warm-up', async (t) => {
  const seen: string[] = []
  const url = await serve(t, (request, response) => {
    request.on('data', (bytes) => seen.push(String(bytes))).on('end', () => stream(response))
  })
  const figures = await run(t, url)
  assert.equal(seen.length, 40)
  assert.equal(new Set(seen).size, 40)
  assert.deepEqual(countsOf(figures), { all: 20, done: 20 })
  assert.equal(figures.goodput.share, 1)
  assert.deepEqual(figures.tokens, { prompt: 20 * 11, cached: 20 * 5, output: 20 * 3 })
  // Three tokens, two gaps each.
  assert.equal(figures.itlMs.count, 40)
  assert.equal(figures.ttftMs.count, 20)
  assert.equal(figures.lagMs.count, 20)
})

test('a server that stands still does not slow the sending, and its waits are counted', async (t) => {
  const held: ServerResponse[] = []
  const url = await serve(t, (request, response) => {
    request.resume()
    held.push(response)
    // Nobody is answered before the last has asked.
    if (held.length === 40) for (const one of held) stream(one)
  })
  const figures = await run(t, url)
  assert.deepEqual(countsOf(figures), { all: 20, done: 20 })
  // The last was sent 200 ms after the first of the window, which waited for it.
  assert.ok(figures.ttftMs.max! >= 185, `${figures.ttftMs.max}`)
  assert.equal(figures.inFlight.most > 20, true)
})

test('refused, failed and unfinished requests are misses, each with its cause', async (t) => {
  let count = 0
  const url = await serve(t, (request, response) => {
    request.resume()
    const kind = count++ % 5
    if (kind === 0) response.writeHead(429).end('{}')
    else if (kind === 1) response.writeHead(500).end('{}')
    else if (kind === 2) stream(response, { cut: true })
    else if (kind === 3) stream(response)
  })
  const figures = await run(t, url, { drainMs: 300 })
  const expected = { all: 20, done: 4, refused: 4, failed: 8, timedOut: 4 }
  assert.deepEqual(countsOf(figures), expected)
  assert.deepEqual(figures.causes, {
    'status 429': 4,
    'status 500': 4,
    'answer cut off': 4,
    'not over at the end': 4,
  })
  assert.equal(figures.goodput.share, 0.2)
  assert.equal(figures.e2eMs.count, 4)
})

test('no more than the limit are open; the others are not sent, and the bench says so', async (t) => {
  const url = await serve(t, (request) => request.resume())
  const figures = await run(t, url, { drainMs: 50 }, { inFlightMax: 25 })
  assert.deepEqual(countsOf(figures), { all: 20, done: 0, timedOut: 5, unsent: 15 })
  assert.equal(figures.keptRate, false)
})

test('a server that is not there', async (t) => {
  const url = await serve(t, () => {})
  const gone = url.replace(/:\d+$/, ':1')
  const load = { kind: 'at-once', count: 2 } as const
  const untilDone = { load, warmUpMs: 0, durationMs: null }
  const figures = await run(t, gone, untilDone, {}, someOf(requests(1), 3))
  assert.deepEqual(countsOf(figures), { all: 3, done: 0, failed: 3 })
  assert.deepEqual(figures.causes, { 'connect: refused': 3 })
})

test('an answer in one piece has its first token when it is whole', async (t) => {
  const url = await serve(t, (request, response) => {
    request.resume()
    const usage = { prompt_tokens: 11, completion_tokens: 3 }
    const choices = [{ index: 0, message: { content: 'a b c' }, finish_reason: 'stop' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ object: 'chat.completion', choices, usage }))
  })
  const figures = await run(t, url, {}, { stream: false })
  assert.deepEqual(countsOf(figures), { all: 20, done: 20 })
  assert.equal(figures.ttftMs.count, 20)
  assert.equal(figures.tpotMs.count, 0)
  assert.equal(figures.tokens.output, 60)
})

test('in a closed loop so many are under way, until all tasks are done', async (t) => {
  let open = 0
  let most = 0
  const url = await serve(t, (request, response) => {
    request.resume()
    most = Math.max(most, ++open)
    response.on('close', () => open--)
    setImmediate(() => stream(response))
  })
  const source = requests(1)
  const ofTwoCalls: TaskSource = {
    next: () => {
      const [turn] = source.next()!.turns
      return { turns: [turn!, { ...turn!, gapMs: 1 }] }
    },
  }
  const tasks = someOf(ofTwoCalls, 12)
  const load = { kind: 'at-once', count: 3 } as const
  const figures = await run(t, url, { load, warmUpMs: 0, durationMs: null }, {}, tasks)
  assert.equal(most <= 3, true)
  assert.deepEqual(countsOf(figures), { all: 24, done: 24 })
  const { taskMs, ...tasksCounted } = figures.tasks
  assert.deepEqual(tasksCounted, { all: 12, completed: 12, failed: 0, cut: 0, calls: 24 })
  assert.equal(taskMs.count, 12)
  assert.equal(figures.verdict, null)
})

test('a stage that is stopped ends, and counts what was open', async (t) => {
  const stop = new AbortController()
  let count = 0
  const url = await serve(t, (request) => {
    request.resume()
    if (++count === 30) stop.abort()
  })
  const figures = await run(t, url, {}, {}, requests(1), stop.signal)
  assert.equal(figures.cut, true)
  assert.equal(figures.requests.timedOut, figures.requests.all)
  assert.equal(figures.requests.all < 20, true)
})

function someOf(source: TaskSource, count: number): TaskSource {
  let left = count
  return { next: () => (left-- > 0 ? source.next() : null) }
}

async function run(
  t: TestContext,
  url: string,
  changes: Partial<StagePlan> = {},
  options: { readonly stream?: boolean; readonly inFlightMax?: number } = {},
  source: TaskSource = requests(1),
  signal = never,
): Promise<StageFigures> {
  const target = new BenchTarget(
    {
      url,
      model: 'm',
      api: 'chat',
      stream: true,
      apiKey: null,
      headers: [],
      ignoreEos: false,
      inFlightMax: 1_000,
      ...options,
    },
    scheduler,
  )
  t.after(() => target.close())
  const stagePlan = { ...plan, ...changes }
  const stage = new Stage(target, source, stagePlan, slo, scheduler)
  const measured = await stage.run(signal)
  return stageFigures(measured, stagePlan, slo, { url, round: 0, cut: signal.aborted })
}

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Three tokens, one a write, and the usage. */
function stream(response: ServerResponse, { cut = false } = {}): void {
  const event = (body: object): void => {
    response.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', ...body })}\n\n`)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const content of ['a', 'b', 'c']) event({ choices: [{ index: 0, delta: { content } }] })
  if (!cut) {
    const details = { cached_tokens: 5 }
    const usage = { prompt_tokens: 11, completion_tokens: 3, prompt_tokens_details: details }
    event({ choices: [], usage })
    response.write('data: [DONE]\n\n')
  }
  response.end()
}

/** Those that are not 0, without what the objectives make of them. */
function countsOf({ requests: { good, ...counts } }: StageFigures): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).filter(([name, count]) => count > 0 || name === 'done'),
  )
}

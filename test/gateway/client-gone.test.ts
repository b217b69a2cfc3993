/** The client leaves: the engine hears of it at once, wherever the request stands. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayStage } from '../support/gateway-stage.ts'
import type { RawClient } from '../support/raw-client.ts'
import {
  answersWell,
  type EngineCall,
  RawEngine,
  type Script,
  tokenEvent,
  wholeAnswer,
} from '../support/raw-engine.ts'

const timeout = { timeout: 20_000 }

interface Place {
  readonly name: string
  readonly fields: object
  readonly script: Script
  /** Resolves when the request stands there. */
  readonly reached: (client: RawClient, call: EngineCall) => unknown
}

const answer = wholeAnswer('x'.repeat(100))
const headRead = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 40))

const places: readonly Place[] = [
  { name: 'waiting for headers', fields: {}, script: () => {}, reached: () => {} },
  {
    name: 'waiting for the headers of a stream',
    fields: { stream: true },
    script: () => {},
    reached: () => {},
  },
  {
    name: 'behind the headers',
    fields: { stream: true },
    script: (call) => call.beginStream(),
    reached: headRead,
  },
  {
    name: 'in the body',
    fields: {},
    script: (call) =>
      call.begin(200, ['content-type: application/json'], answer.length).part(answer.slice(0, 50)),
    reached: (client) => client.until(answer.slice(0, 50)),
  },
  {
    name: 'in the stream',
    fields: { stream: true },
    script: (call) => call.beginStream().chunk(tokenEvent('one')),
    reached: (client) => client.until('one'),
  },
]

for (const how of ['close', 'reset'] as const) {
  for (const { name, fields, script, reached } of places) {
    test(`F013: a client that leaves (${how}) ${name}: cancelled at once`, timeout, async (t) => {
      const engine = await RawEngine.start(t, script)
      const other = await RawEngine.start(t, answersWell)
      const stage = await GatewayStage.start(t, [engine, other])
      const client = stage.chat(fields)
      const call = await engine.call(0)
      await reached(client, call)
      if (how === 'close') client.close()
      else client.socket.resetAndDestroy()
      await call.closed()
      const status = await stage.statusWhen(({ openRequests }) => openRequests === 0)
      assert.equal(status.endpoints[0]!.reason, 'ready')
      assert.equal(other.calls.length, 0)
      assert.equal(await stage.metric('warmpath_requests_total', 'outcome="client-gone"'), 1)
    })
  }
}

test('F013: a client that leaves while the router connects', timeout, async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine])
  await engine.stopAccepting(t)
  const client = stage.chat()
  const connecting = await stage.statusWhen(({ openConnections }) => openConnections.upstream > 0)
  assert.equal(connecting.openRequests, 1)
  client.close()
  const after = await stage.statusWhen(({ openConnections }) => openConnections.upstream === 0)
  assert.equal(after.openRequests, 0)
})

test(
  'F013: a client that leaves within its own body: no engine hears of it',
  timeout,
  async (t) => {
    const engine = await RawEngine.start(t, answersWell)
    const stage = await GatewayStage.start(t, [engine])
    const client = stage.client()
    client.send(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: r\r\ncontent-length: 999\r\n\r\n{"model"',
    )
    await stage.statusWhen(({ openRequests }) => openRequests === 1)
    client.close()
    await stage.statusWhen(({ openRequests }) => openRequests === 0)
    assert.equal(engine.calls.length, 0)
  },
)

test('F141: work that the engine may not have dropped stays on its ledger', timeout, async (t) => {
  const engine = await RawEngine.start(t, (call) => call.beginStream().chunk(tokenEvent('one')))
  const metrics = (running: number): string =>
    `llamacpp:requests_processing ${running}\nllamacpp:requests_deferred 0\n`
  engine.metrics = metrics(1)
  const stage = await GatewayStage.start(t, [engine], {
    config: { endpoints: [{ url: engine.url, engine: 'llama.cpp' }], scrapeIntervalMs: 50 },
  })
  const client = stage.chat({ stream: true })
  await client.until('one')
  client.close()
  await engine.calls[0]!.closed()
  const left = await stage.statusWhen(({ openRequests }) => openRequests === 0)
  assert.equal(left.endpoints[0]!.inFlight, 1, 'not free at once')
  const scraped = left.endpoints[0]!.scrapeAgeMs!
  const later = await stage.statusWhen(({ endpoints }) => endpoints[0]!.scrapeAgeMs! < scraped)
  assert.equal(later.endpoints[0]!.inFlight, 1, 'the engine is still at it')
  engine.metrics = metrics(0)
  await stage.statusWhen(({ endpoints }) => endpoints[0]!.inFlight === 0)
})

test('F141: within a bound, also where the engine shows nothing', timeout, async (t) => {
  const engine = await RawEngine.start(t)
  const stage = await GatewayStage.start(t, [engine], {
    config: { endpoints: [{ url: engine.url, engine: 'llama.cpp' }], scrapeIntervalMs: 60_000 },
    timeScale: 50,
  })
  const client = stage.chat()
  await engine.call(0)
  client.close()
  await engine.calls[0]!.closed()
  assert.equal((await stage.status()).endpoints[0]!.inFlight, 1)
  const { counters } = await stage.statusWhen(({ endpoints }) => endpoints[0]!.inFlight === 0)
  assert.equal(counters.lingerExpired, 1)
})

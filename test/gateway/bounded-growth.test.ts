/** What many requests leave behind, and what an engine's gaps look like from outside. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GatewayStage } from '../support/gateway-stage.ts'
import { answersWell, lastEvents, RawEngine, tokenEvent } from '../support/raw-engine.ts'
import { seenBy } from '../support/seen-by-client.ts'

/** So many chats over a few connections, each answered before its connection sends the next. */
async function chats(stage: GatewayStage, count: number, model: (i: number) => string) {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
      const body = JSON.stringify({ model: model(next++), messages: [] })
      const headers = { 'content-type': 'application/json' }
      const url = `${stage.gateway.address}/v1/chat/completions`
      await (await fetch(url, { method: 'POST', headers, body })).arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

const pageOf = async (stage: GatewayStage): Promise<string> =>
  (await fetch(`${stage.gateway.address}/metrics`)).text()

const modelsOn = (page: string): Set<string> =>
  new Set([...page.matchAll(/[{,]model="([^"]*)"/g)].map((match) => match[1]!))

for (const unknownModels of ['reject', 'forward'] as const) {
  test(`F121: names that nobody serves (${unknownModels}) make few series`, async (t) => {
    const engine = await RawEngine.start(t, answersWell)
    const stage = await GatewayStage.start(t, [engine], { config: { unknownModels } })
    await chats(stage, 1_000, (i) => `random-${i}`)
    const early = modelsOn(await pageOf(stage))
    assert.ok(early.size <= 60, `${early.size} models on the page`)
    await chats(stage, 1_000, (i) => `another-${i}`)
    assert.deepEqual(modelsOn(await pageOf(stage)), early)
    await stage.chat().over()
    assert.equal(await stage.metric('warmpath_requests_total', 'model="m"', '"done"'), 1)
  })
}

test('F131: requests that are over leave nothing that counts them', async (t) => {
  const engine = await RawEngine.start(t, answersWell)
  const stage = await GatewayStage.start(t, [engine])
  const shape = async () => {
    const { openRequests, heldRequests, held, endpoints } = await stage.status()
    const { inFlight, queued, queuedTokens, contextTokens } = endpoints[0]!
    // Figures of the process itself come and go with its garbage collections.
    const own = (line: string): boolean => line.startsWith('warmpath_')
    const series = (await pageOf(stage)).split('\n').filter(own).length
    const open = [openRequests, heldRequests, held.length]
    return { open, ledger: [inFlight, queued, queuedTokens, contextTokens], series }
  }
  await chats(stage, 200, () => 'm')
  const before = await shape()
  assert.deepEqual(before.open, [0, 0, 0])
  assert.deepEqual(before.ledger, [0, 0, 0, 0])
  await chats(stage, 3_000, () => 'm')
  assert.deepEqual(await shape(), before)
  assert.equal(engine.calls.length, 3_200)
})

test('F131: hundreds of streams at once, each whole, none left on the books', async (t) => {
  const streams = 300
  const engine = await RawEngine.start(t, (call) => call.beginStream().chunk(tokenEvent('one')))
  const stage = await GatewayStage.start(t, [engine])
  const clients = Array.from({ length: streams }, () => stage.chat({ stream: true }))
  await Promise.all(clients.map((client) => client.until('one')))
  assert.equal((await stage.status()).openRequests, streams)
  for (const call of engine.calls) call.chunk(lastEvents).endChunks()
  for (const seen of await Promise.all(clients.map(seenBy))) {
    assert.ok(seen.whole)
    assert.equal(seen.body, tokenEvent('one') + lastEvents)
  }
  const { openRequests, endpoints } = await stage.status()
  assert.deepEqual([openRequests, endpoints[0]!.inFlight, endpoints[0]!.queued], [0, 0, 0])
})

describe('an engine without a page of metrics', () => {
  test('F051: is used from the first request on', async (t) => {
    const bare = await RawEngine.start(t, answersWell)
    const full = await RawEngine.start(t, answersWell)
    full.metrics = 'vllm:num_requests_running{engine="0"} 0\n'
    const stage = await GatewayStage.start(t, [bare, full], { config: { policy: 'warmpath' } })
    for (let i = 0; i < 8; i++) {
      const messages = [{ role: 'user', content: `${i} of its own. `.repeat(200) }]
      assert.equal((await seenBy(stage.chat({ messages }))).status, 200)
    }
    assert.ok(bare.calls.length > 0, 'no starving of what shows no load')
    assert.ok(full.calls.length > 0, 'no rush to what shows no load')
  })

  test('F045: is told of in /status, /metrics and the log', async (t) => {
    const engine = await RawEngine.start(t, answersWell)
    const stage = await GatewayStage.start(t, [engine])
    const line = await stage.logged('fallback.metrics-missing')
    assert.equal(line.level, 'warn')
    assert.equal((await stage.status()).fallbacks['metrics-missing'], 1)
    const counted = await stage.metric('warmpath_fallbacks_total', 'kind="metrics-missing"')
    assert.equal(counted, 1)
  })
})

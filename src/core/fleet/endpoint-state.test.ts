import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EngineSignals } from './endpoint.ts'
import { EndpointState } from './endpoint-state.ts'

const signals = (kvUsage: number, running: number, waiting: number): EngineSignals => ({
  running,
  waiting,
  kvUsage,
  asleep: null,
  prefixQueriedTokens: null,
  prefixHitTokens: null,
})

function endpointWith(requests: number, promptTokens: number): EndpointState {
  const endpoint = new EndpointState('http://e0', 0, { kvCapacityTokens: 100_000 })
  for (let i = 0; i < requests; i++) {
    endpoint.ledger.reserve(0, {
      promptTokens,
      uncachedTokens: promptTokens,
      prefillMs: 1,
      outputTokens: 1,
      streaming: true,
    })
  }
  return endpoint
}

function settled(endpoint: EndpointState, seen: EngineSignals): number {
  for (let i = 0; i < 50; i++) endpoint.observe(i, seen)
  return endpoint.residentShare
}

test('a fifth of the context in memory: requests share prefixes', () => {
  const share = settled(endpointWith(10, 20_000), signals(0.4, 10, 0))
  assert.ok(Math.abs(share - 0.2) < 0.01, `${share}`)
})

test('what waits at the engine holds no memory and does not look like sharing', () => {
  const share = settled(endpointWith(10, 20_000), signals(1, 5, 5))
  assert.ok(Math.abs(share - 1) < 0.01, `${share}`)
})

test('an endpoint with little context on the ledger tells nothing of sharing', () => {
  assert.equal(settled(endpointWith(1, 5_000), signals(0.01, 1, 0)), 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareAgents, renderComparison, summaryOf } from './compare-agents.ts'
import { agentTextFile, recordedAgents } from './recorded-agents.ts'

const runs = recordedAgents(20_000)
const skip = runs === null ? `the recording ${agentTextFile} is not there` : false

test('recorded agents through the gateway: no error, more reuse than round-robin', {
  skip,
}, async () => {
  const sides = await compareAgents({
    runs: runs!.slice(0, 5),
    shape: { profile: 'llama-3.1-8b-h100', kvTokens: 120_000, replicas: 3, timeScale: 20 },
    atOnce: 5,
    maxTokens: 16,
    policies: ['round-robin', 'warmpath'],
    mixed: true,
  })
  const [baseline, ours] = sides
  assert.deepEqual(baseline!.result.errors, [])
  assert.deepEqual(ours!.result.errors, [])
  assert.equal(ours!.result.promptTokens, baseline!.result.promptTokens)
  const { cachedTokens, promptTokens } = ours!.result
  assert.ok(cachedTokens > baseline!.result.cachedTokens, renderComparison(sides))
  assert.ok(cachedTokens > 0.6 * promptTokens, renderComparison(sides))
  assert.match(summaryOf(sides), /warmpath against round-robin/)
})

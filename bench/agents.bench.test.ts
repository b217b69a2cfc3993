import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsBench, medianCut } from './agents.bench.ts'

test('simulated agents: warmpath cuts the median TTFT by 85 % against round-robin', () => {
  const rows = agentsBench({ sessions: 12, turns: 8, replicas: 4, seeds: [1] })
  assert.ok(rows.every((row) => row.refused === 0 && row.requests === 96))
  const cut = medianCut(rows, 'warmpath', 1)
  assert.ok(cut >= 0.85, `cut by ${(100 * cut).toFixed(1)} %`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decisionBench } from './decision.bench.ts'

test('the decision bench runs in a smoke size; a block takes at most 64 bytes', () => {
  const result = decisionBench({
    endpoints: 8,
    blocksPerEndpoint: 1_024,
    promptBlocks: 200,
    decisions: 40,
    naiveDecisions: 4,
  })
  assert.ok(result.blocksIndexed > 0.9 * 8 * 1_024, `${result.blocksIndexed} blocks`)
  assert.ok(result.bytesPerBlock <= 64, `${result.bytesPerBlock} bytes per block`)
  assert.ok(result.endpointsUsed > 1)
})

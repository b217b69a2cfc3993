import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRequest } from '../src/protocol/read-request.ts'
import { agentBody, benchPrompts } from './prompt.bench.ts'

test('the prompt benchmark measures bodies that are read whole', () => {
  const [row] = benchPrompts([2_048], 1)
  assert.ok(row.bodyBytes >= 2_048)
  assert.ok(row.parseUs > 0 && row.readUs > 0 && row.ratio > 0)
  const outcome = readRequest('chat', agentBody(32 * 1_024), '')
  assert.ok(outcome.ok)
  assert.ok(outcome.request.prompt.bytes > 24 * 1_024)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runUpstreamBench } from './upstream.bench.ts'

test('the upstream benchmark runs, in a size that says nothing of speed', async () => {
  const results = await runUpstreamBench({
    requests: 64,
    streams: 32,
    eventsPerStream: 5,
    rounds: 1,
  })
  assert.deepEqual(
    results.map(({ client }) => client),
    ['warmpath', 'undici request', 'node:http'],
  )
  for (const { requestMicros, eventMicros } of results) {
    assert.ok(requestMicros > 0 && eventMicros > 0)
  }
})

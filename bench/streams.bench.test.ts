import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { streamsBench } from './streams.bench.ts'

const skip = existsSync('/proc/self/stat') ? false : 'reads CPU times from /proc'

test('the streams bench runs in a smoke size, and every stream comes whole', { skip }, async () => {
  const rows = await streamsBench({ streams: 60, events: 5, gapMs: 20 }, 20_700)
  assert.deepEqual(
    rows.map(({ way, events, failures }) => ({ way, events, failures })),
    [
      { way: 'direct', events: 300, failures: 0 },
      { way: 'warmpath', events: 300, failures: 0 },
    ],
  )
})

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { gatewayBench, renderGatewayBench } from './gateway.bench.ts'

const skip = existsSync('/proc/self/schedstat') ? false : 'reads CPU times from /proc'

test('the gateway bench runs in a smoke size, and loses no request', { skip }, async () => {
  const requests = { '1 KB': 40, '32 KB': 20 }
  const rows = await gatewayBench(
    { proxies: ['warmpath'], requests, streams: 8, rounds: 1 },
    20_300,
  )
  assert.deepEqual(
    rows.map(({ proxy, failures }) => ({ proxy, failures })),
    [{ proxy: 'warmpath', failures: 0 }],
  )
  assert.match(renderGatewayBench(rows), /warmpath/)
})

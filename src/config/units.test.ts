import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatDurationMs, formatSizeBytes, parseDurationMs, parseSizeBytes } from './units.ts'

test('durations and sizes need their unit, spelled as it is', () => {
  const durations = { '500ms': 500, '30s': 30_000, '1.5m': 90_000, '2 h': 7_200_000, '0': 0 }
  for (const [text, ms] of Object.entries(durations)) assert.equal(parseDurationMs(text), ms)
  for (const text of ['5', '', 's', '-1s', '1d', '1S', '1e3s']) {
    assert.equal(parseDurationMs(text), null, text)
  }
  assert.equal(parseSizeBytes('32MiB'), 33_554_432)
  for (const text of ['32MB', '32M', '1', '1mib']) assert.equal(parseSizeBytes(text), null, text)
})

test('what is written is read back as the same number', () => {
  fc.assert(
    fc.property(fc.nat(), (n) => {
      assert.equal(parseDurationMs(formatDurationMs(n)), n)
      assert.equal(parseSizeBytes(formatSizeBytes(n)), n)
    }),
  )
})

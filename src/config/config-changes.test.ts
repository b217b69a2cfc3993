import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfig } from './config.ts'
import { configChanges } from './config-changes.ts'

test('what can change while running is taken over, the rest is named and stays', () => {
  const wanted = { ...defaultConfig, port: 9000, retriesMax: 0, maxBodyBytes: 1_000, seed: 7 }
  const { config, changed, needRestart } = configChanges(defaultConfig, wanted)
  assert.deepEqual(changed, ['maxBody', 'retriesMax'])
  assert.deepEqual(needRestart, ['port', 'seed'])
  assert.deepEqual(config, { ...defaultConfig, retriesMax: 0, maxBodyBytes: 1_000 })
})

test('an option that waits for a restart is named again each time', () => {
  const wanted = { ...defaultConfig, port: 9000 }
  const first = configChanges(defaultConfig, wanted)
  assert.deepEqual(configChanges(first.config, wanted).needRestart, ['port'])
})

test('the same values in another order are no change', () => {
  const before = { ...defaultConfig, aliases: { a: 'x', b: 'y' } }
  const after = { ...defaultConfig, aliases: { b: 'y', a: 'x' } }
  assert.deepEqual(configChanges(before, after).changed, [])
})

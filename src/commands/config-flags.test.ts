import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { namedOptions } from '../config/config.ts'
import { addConfigFlags, configOf } from './config-flags.ts'

function configFrom(args: readonly string[]): Config {
  const command = new Command('test').exitOverride().argument('[url...]')
  addConfigFlags(command)
  command.parse(args, { from: 'user' })
  return configOf(command, command.args)
}

test('every option but the endpoints is a flag that takes its own example', () => {
  for (const { key, flag, option } of namedOptions) {
    if (key === 'endpoints' || option.placeholder === '') continue
    const example = option.example.replace(/^\{ (.*): (.*) \}$/, '$1=$2').replaceAll(/[[\]]/g, '')
    assert.doesNotThrow(() => configFrom([flag, example]), `${flag} ${example}`)
  }
})

test('a toggle has both spellings, and neither leaves the default', () => {
  assert.equal(configFrom([]).responseHeaders, true)
  assert.equal(configFrom(['--no-response-headers']).responseHeaders, false)
  assert.equal(configFrom(['--response-headers']).responseHeaders, true)
})

test('arguments are endpoints, flags carry units', () => {
  const config = configFrom(['http://a:1', 'http://b:2', '--connect-timeout', '250ms'])
  assert.deepEqual(config.endpoints, [{ url: 'http://a:1' }, { url: 'http://b:2' }])
  assert.equal(config.connectTimeoutMs, 250)
})

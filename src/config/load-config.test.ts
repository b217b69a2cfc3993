import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { defaultConfig, namedOptions } from './config.ts'
import type { ConfigSources } from './load-config.ts'
import { loadConfig } from './load-config.ts'
import { renderProblems } from './problem.ts'

function load(text: string | null, rest: Partial<ConfigSources> = {}) {
  const file = text === null ? null : { name: 'warmpath.yaml', text }
  return loadConfig({ flags: {}, env: {}, file, ...rest })
}

function configOf(text: string | null, rest: Partial<ConfigSources> = {}) {
  const loaded = load(text, rest)
  assert.ok(loaded.ok, loaded.ok ? '' : renderProblems(loaded.problems))
  return loaded.config
}

function problemsOf(text: string | null, rest: Partial<ConfigSources> = {}): string[] {
  const loaded = load(text, rest)
  assert.ok(!loaded.ok, 'the configuration was taken')
  return renderProblems(loaded.problems).split('\n')
}

test('nothing given: every option has its default', () => {
  assert.deepEqual(configOf(null), defaultConfig)
  assert.deepEqual(configOf('# only a comment\n'), defaultConfig)
})

test('every default and every example of the reference is itself valid', () => {
  for (const { key, option } of namedOptions) {
    const loaded = load(`${key}: ${option.example}\n`)
    assert.ok(loaded.ok, `${key}: ${option.example}`)
  }
})

test('flag over environment over file over default', () => {
  const file = 'port: 1001\nhealthInterval: 3s\nhost: file.example\n'
  const env = { WARMPATH_PORT: '1002', WARMPATH_HEALTH_INTERVAL: '4s' }
  const config = configOf(file, { env, flags: { port: '1003' } })
  assert.equal(config.port, 1003)
  assert.equal(config.healthIntervalMs, 4000)
  assert.equal(config.host, 'file.example')
  assert.equal(config.logLevel, 'info')
})

test('units become numbers, lists and maps are read from text', () => {
  const config = configOf('maxBody: 1MiB\nfirstByteTimeout: 1.5m\n', {
    env: { WARMPATH_ALIASES: 'a=b, c=d/e', WARMPATH_SESSION_HEADERS: 'X-One,x-two' },
    flags: { endpoints: ['http://GPU1:8000/'], responseHeaders: false },
  })
  assert.equal(config.maxBodyBytes, 1_048_576)
  assert.equal(config.firstByteTimeoutMs, 90_000)
  assert.deepEqual(config.aliases, { a: 'b', c: 'd/e' })
  assert.deepEqual(config.sessionHeaders, ['x-one', 'x-two'])
  assert.deepEqual(config.endpoints, [{ url: 'http://gpu1:8000' }])
  assert.equal(config.responseHeaders, false)
})

test('an endpoint may be a URL or a map', () => {
  const text = `endpoints:
  - http://gpu1:8000
  - url: https://gpu2
    models: [a/b]
    engine: sglang
    kvCapacityTokens: 1000
`
  assert.deepEqual(configOf(text).endpoints, [
    { url: 'http://gpu1:8000' },
    { url: 'https://gpu2', models: ['a/b'], engine: 'sglang', kvCapacityTokens: 1000 },
  ])
})

test('all problems at once, each with line, column, key and what would be valid', () => {
  const text = `port: eighty
helthInterval: 1s
connectTimeout: 5
endpoints:
  - gpu1:8000
  - url: http://gpu2:8000/v1
    engin: vllm
  - http://gpu3:8000
  - HTTP://gpu3:8000/
policy: warm
`
  assert.deepEqual(problemsOf(text), [
    'warmpath.yaml:1:1: port expects a whole number from 0 to 65535; got "eighty"',
    'warmpath.yaml:2:1: helthInterval is not an option; did you mean healthInterval?',
    'warmpath.yaml:3:1: connectTimeout expects a duration from 10ms to 1m, such as 500ms, 30s ' +
      'or 5m; got 5',
    'warmpath.yaml:5:5: endpoints[0].url expects a URL such as http://gpu1:8000; did you mean ' +
      'http://gpu1:8000?; got "gpu1:8000"',
    'warmpath.yaml:6:5: endpoints[1].url expects scheme, host and port only, as the request ' +
      'brings the path; did you mean http://gpu2:8000?; got "http://gpu2:8000/v1"',
    'warmpath.yaml:7:5: endpoints[1].engin is not an option; did you mean engine?',
    'warmpath.yaml:10:1: policy expects one of warmpath, round-robin, random, least-request, ' +
      'power-of-two, session-affinity, consistent-hash, prefix-only; got "warm"',
  ])
})

test('the same endpoint twice is a problem', () => {
  const text = 'endpoints:\n  - http://a:1\n  - url: HTTP://A:1/\n'
  assert.match(problemsOf(text)[0], /^warmpath.yaml:3:5: endpoints\[1\] repeats http:\/\/a:1/)
})

test('text that is no YAML, or no map, is told with its place', () => {
  assert.match(problemsOf('port: [1\n')[0], /^warmpath\.yaml:\d+:\d+: /)
  assert.match(problemsOf('- port\n')[0], /^warmpath\.yaml:1:1: expects a map of options/)
  assert.match(problemsOf('a: 1\nport: *a\n')[0], /^warmpath\.yaml:2:7: \*a refers to no anchor/)
  assert.match(problemsOf('aliases: &a { x: *a }\n')[0], /^warmpath\.yaml:1:18: \*a refers to no/)
  assert.equal(configOf('port: &p 81\nseed: *p\n').seed, 81)
  assert.match(problemsOf('port: 1\nport: 2\n')[0], /^warmpath\.yaml:2:1: .*unique/)
})

test('anchors and aliases that multiply are refused, not expanded', () => {
  const levels = Array.from({ length: 12 }, (_, i) => {
    const items = Array(10).fill(i === 0 ? 'x' : `*a${i - 1}`)
    return `a${i}: &a${i} [${items.join(',')}]`
  })
  assert.match(problemsOf(levels.join('\n'))[0], /^warmpath\.yaml:1:1: repeats itself too often/)
})

test('problems of flags and of the environment name the flag and the variable', () => {
  const problems = problemsOf(null, {
    env: { WARMPATH_LOG_LEVEL: 'loud', WARMPATH_POLICI: 'random', WARMPATH_SERVICE_HOST: '1' },
    flags: { port: '99999' },
  })
  assert.deepEqual(problems, [
    '--port: expects a whole number from 0 to 65535; got 99999',
    'WARMPATH_LOG_LEVEL: expects one of error, warn, info, debug; got "loud"',
    'WARMPATH_POLICI: is not an option; did you mean WARMPATH_POLICY?',
  ])
})

test('the variables that Kubernetes makes for a Service named warmpath are explained', () => {
  const problems = problemsOf(null, { env: { WARMPATH_PORT: 'tcp://10.0.0.7:80' } })
  assert.match(problems[0], /enableServiceLinks: false/)
})

test('a key must exist where the configuration says it is', () => {
  const text = 'endpoints:\n  - url: http://a:1\n    apiKeyEnv: GPU_KEY\n'
  assert.match(problemsOf(text)[0], /^GPU_KEY: is not set/)
  assert.equal(configOf(text, { env: { GPU_KEY: 'secret' } }).endpoints[0].apiKeyEnv, 'GPU_KEY')
})

test('any text is either taken or refused with a place, never a crash', () => {
  const word = fc.constantFrom(...namedOptions.map(({ key }) => key), 'url', 'nonsense')
  const value = fc.oneof(fc.string(), fc.integer().map(String), fc.constantFrom('{}', '[[]]', '~'))
  const line = fc.tuple(word, value).map(([key, text]) => `${key}: ${text}`)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
      const loaded = load(lines.join('\n'))
      if (loaded.ok) return
      for (const { where, message } of loaded.problems) {
        assert.match(where, /^warmpath\.yaml:\d+:\d+$/)
        assert.notEqual(message, '')
      }
    }),
  )
})

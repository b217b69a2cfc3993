/** The command line as its users meet it: what goes where, and with which exit status. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import packageJson from '../package.json' with { type: 'json' }
import { startEmulator } from '../src/lab/emulator/start-emulator.ts'

const program = join(import.meta.dirname, '../bin/warmpath')

interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

async function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn(program, args, { env: { ...process.env, ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (piece) => {
    stdout += piece
  })
  child.stderr.on('data', (piece) => {
    stderr += piece
  })
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.on('close', resolve)
  return { status: await promise, stdout, stderr }
}

test('help and version are data: stdout, status 0', async () => {
  const help = await run(['--help'])
  assert.equal(help.status, 0)
  assert.equal(help.stderr, '')
  assert.match(help.stdout, /warmpath check http/)
  const version = await run(['--version'])
  assert.deepEqual(version, { status: 0, stdout: `${packageJson.version}\n`, stderr: '' })
})

test('a wrong command line: status 64, nothing on stdout, a way out on stderr', async () => {
  const wrong: [string[], RegExp][] = [
    [['srve'], /Did you mean serve/],
    [['serve'], /no endpoints.*--config/],
    [['serve', 'http://a:1', '--port', 'high'], /--port: expects a whole number from 0 to 65535/],
    [['serve', 'http://a:1', '--prt', '1'], /unknown option '--prt'/],
    [['serve', 'gpu1:8000'], /did you mean http:\/\/gpu1:8000/],
    [['emulate', '--profile', 'none'], /the profiles are .*llama-3.1-8b-h100/],
    [['explain'], /missing required argument/],
  ]
  for (const [args, message] of wrong) {
    const ran = await run(args)
    assert.equal(ran.status, 64, args.join(' '))
    assert.equal(ran.stdout, '')
    assert.match(ran.stderr, message)
  }
})

test('a wrong configuration: status 78 and all its problems', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'warmpath-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'warmpath.yaml')
  writeFileSync(path, 'port: high\npolicy: warm\n')
  const ran = await run(['check', '--config', path], { WARMPATH_LOG_LEVEL: 'loud' })
  assert.equal(ran.status, 78)
  assert.equal(ran.stdout, '')
  const places = ran.stderr
    .trimEnd()
    .split('\n')
    .map((line) => line.split(': ')[1])
  assert.deepEqual(places, [`${path}:1:1`, `${path}:2:1`, 'WARMPATH_LOG_LEVEL'])
  assert.equal((await run(['check', '--config', `${path}.none`])).status, 78)
})

test('check prints what engines say, and fails when one cannot be used', async (t) => {
  const emulator = await startEmulator({ profile: 'llama-3.1-8b-h100', replicas: 1 })
  t.after(() => emulator.close())
  const [url] = emulator.urls
  const well = await run(['check', url])
  assert.equal(well.status, 0, well.stderr)
  assert.match(well.stdout, /^endpoint +usable +engine/)
  assert.match(well.stdout, new RegExp(`${url} +yes +vllm +\\S+ +meta-llama/\\S+ +420,992`))

  const some = await run(['check', '--json', url, 'http://127.0.0.1:1'])
  assert.equal(some.status, 1)
  const [first, second] = JSON.parse(some.stdout)
  assert.equal(first.url, url)
  assert.equal(first.kvCapacityTokens, 420_992)
  assert.equal(second.reachable, false)
})

test('a taken port: status 69', async (t) => {
  const emulator = await startEmulator({ profile: 'llama-3.1-8b-h100', replicas: 1 })
  t.after(() => emulator.close())
  const ran = await run(['emulate', '--port', new URL(emulator.urls[0]).port, '--replicas', '1'])
  assert.equal(ran.status, 69)
  assert.match(ran.stderr, /cannot listen: .*EADDRINUSE/)
})

test('explain without a gateway: status 69', async () => {
  const ran = await run(['explain', 'r1', '--url', 'http://127.0.0.1:1'])
  assert.equal(ran.status, 69)
  assert.match(ran.stderr, /no gateway answers at http:\/\/127.0.0.1:1: connection refused/)
})

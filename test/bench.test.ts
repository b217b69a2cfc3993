/** `warmpath bench` as its users meet it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startEmulator } from '../src/lab/emulator/start-emulator.ts'
import { Program } from './support/program.ts'
import { testCertificate, testKey } from './support/tls-certificate.ts'

const model = 'meta-llama/Llama-3.1-8B-Instruct'
const short = ['--duration', '400ms', '--warmup', '100ms', '--output-tokens', '4']

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

async function bench(t: TestContext, ...args: string[]): Promise<Ended> {
  const program = new Program(t, ['bench', ...args])
  let stdout = ''
  let stderr = ''
  program.child.stdout.on('data', (bytes) => {
    stdout += bytes
  })
  program.child.stderr.on('data', (bytes) => {
    stderr += bytes
  })
  const { status } = await program.exit()
  return { status, stdout, stderr }
}

async function engines(t: TestContext, replicas: number) {
  const emulator = await startEmulator({ profile: 'llama-3.1-8b-h100', replicas, timeScale: 20 })
  t.after(() => emulator.close())
  return emulator
}

test('a table, a page and a sentence; it says beforehand what it will send', async (t) => {
  const { urls } = await engines(t, 1)
  const html = join(temporary(t), 'page.html')
  const rates = ['--rate', '20,40', '--arrivals', 'constant']
  const { status, stdout, stderr } = await bench(t, urls[0]!, ...rates, ...short, '--html', html)
  assert.equal(status, 0, stderr)
  assert.match(stderr, /^sending to http:\S+, model meta-llama\S+: requests of 512 tokens, answers/)
  assert.match(stderr, /2 stages, 0.5 s each, of which the first 0.1 s do not count/)
  assert.match(stdout, /\n20\/s +8 +0 .*\n40\/s +16 +0 /)
  assert.match(
    stdout,
    /[Aa]t 40\/s, \d+\.\d % of the requests kept 2 s to the first token, .*\.\n$/,
  )
  const page = readFileSync(html, 'utf8')
  assert.match(page, /<h1>Load on 127\.0\.0\.1:\d+<\/h1>/)
  assert.ok(page.includes('<svg '))
})

test('two URLs get the same load by turns, and every number of the page is in --json', async (t) => {
  const { urls } = await engines(t, 2)
  const html = join(temporary(t), 'page.html')
  const args = ['--concurrency', '2', '--rounds', '2', ...short, '--json', '--html', html]
  const { status, stdout, stderr } = await bench(t, ...urls, ...args)
  assert.equal(status, 0, stderr)
  const figures = JSON.parse(stdout)
  assert.equal(figures.schema, 'warmpath-bench/1')
  assert.equal(figures.model, model)
  const order = figures.stages.map(({ url }: { url: string }) => urls.indexOf(url))
  assert.deepEqual(order, [0, 1, 1, 0])
  assert.equal(figures.comparisons[0].rounds, 2)
  const ratio = figures.comparisons[0].ratios['TTFT p50']
  assert.ok(ratio.low <= ratio.value && ratio.value <= ratio.high)
  const numbers = new Set<number>()
  JSON.parse(stdout, (_, value) => {
    if (typeof value === 'number') numbers.add(value)
    return value
  })
  // What the page derives from whole numbers: rounds from 1, misses, and the cached share.
  for (const { round, requests, tokens } of figures.stages) {
    numbers
      .add(round + 1)
      .add(requests.all - requests.done)
      .add(tokens.cached / tokens.prompt)
  }
  const page = readFileSync(html, 'utf8').replaceAll(/<details>.*?<\/details>/gs, '')
  const shown = [...page.matchAll(/<data value="([^"]+)"/g)].map(([, value]) => Number(value))
  assert.ok(shown.length > 50)
  assert.deepEqual(
    shown.filter((value) => !numbers.has(value)),
    [],
  )
})

test('a sweep ends when two rates have failed', async (t) => {
  const { urls, replicas } = await engines(t, 1)
  replicas[0]!.setFaults({ headersDelayMs: 100 })
  // Nothing is within 50 ms: the lowest rate fails, and the second.
  const args = ['--sweep', '10:160:5', '--slo', 'ttft=50ms', ...short, '--json']
  const { stdout, stderr } = await bench(t, urls[0]!, ...args)
  const { knees, stages } = JSON.parse(stdout)
  assert.equal(knees.length, 1, stderr)
  assert.equal(knees[0].perSecond, null)
  assert.equal(stages.length, 2)
})

test('agents carry their sessions through', async (t) => {
  const { urls } = await engines(t, 1)
  const small =
    'code-generation,sessions=3,turns=3,ownTokensMax=2000,outputTokensMax=20,toolMsMax=5,toolMsMin=1,outputTokensMin=2,turnTokensMax=200'
  const { status, stdout } = await bench(
    t,
    urls[0]!,
    '--agents',
    '2',
    '--workload',
    small,
    '--json',
  )
  assert.equal(status, 0)
  const [{ tasks, requests, tokens }] = JSON.parse(stdout).stages
  assert.deepEqual([tasks.all, tasks.completed, requests.done], [3, 3, 9])
  assert.ok(tokens.cached > tokens.prompt / 3, 'turns share their beginnings')
})

test('what cannot be done is said before anything is sent', async (t) => {
  const { urls } = await engines(t, 1)
  const [url] = urls
  const wrong: [string[], number, RegExp][] = [
    [[url!, '--rate', '0'], 64, /It takes a number from 0\.001/],
    [[url!, '--rate', '2', '--sweep', '1:4'], 64, /--rate and --sweep: only one of them/],
    [[url!, '--sweep', '4:1'], 64, /It takes two rates in requests\/s, the lower first/],
    [[url!, '--slo', 'ttf=2s'], 64, /'ttf=2s' is no objective: it takes ttft, tpot and e2e/],
    [[url!, '--duration', '30'], 64, /It takes a time such as 500ms, 30s or 2m/],
    [[url!, '--prompt-tokens', '200000'], 64, /the model takes 131072 in all/],
    [[url!, '--agents', '1', '--workload', 'code'], 64, /--workload: no workload "code"/],
    [[url!, '--header', 'Authorization: Bearer x'], 64, /put it in WARMPATH_API_KEY/],
    [[url!, url!], 64, /twice: two URLs are compared/],
    [['gpu1:8000'], 64, /gpu1:8000 is not an http or https URL such as/],
    [['http://127.0.0.1:1'], 69, /http:\/\/127.0.0.1:1 does not answer: connection refused/],
  ]
  for (const [args, expected, message] of wrong) {
    const { status, stdout, stderr } = await bench(t, ...args)
    assert.deepEqual([status, stdout], [expected, ''], args.join(' '))
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /sending to/)
  }
})

test('Ctrl-C stops, and reports what there is', async (t) => {
  const { urls } = await engines(t, 1)
  const program = new Program(t, ['bench', urls[0]!, '--rate', '5', '--duration', '10m'])
  await program.says(/stages?, 605 s each/)
  program.signal('SIGINT')
  await program.says(/^Stopped early\. /)
  await program.exit()
})

test('an https URL with a path, and a key from the environment', async (t) => {
  const path = join(temporary(t), 'ca.pem')
  writeFileSync(path, testCertificate)
  const seen = new Set<string>()
  const server = createServer({ key: testKey, cert: testCertificate }, (request, response) => {
    request.resume()
    seen.add(`${request.method} ${request.url}`)
    const known = request.headers.authorization === 'Bearer secret'
    const choices = [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }]
    const answer = request.method === 'GET' ? { data: [{ id: 'm' }] } : { choices }
    response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `https://localhost:${(server.address() as AddressInfo).port}/team/v1/`
  process.env.NODE_EXTRA_CA_CERTS = path
  process.env.WARMPATH_API_KEY = 'secret'
  const known = await bench(t, url, '--concurrency', '1', '--no-stream', ...short, '--json')
  process.env.WARMPATH_API_KEY = 'wrong'
  const unknown = await bench(t, url)
  delete process.env.NODE_EXTRA_CA_CERTS
  delete process.env.WARMPATH_API_KEY
  assert.equal(known.status, 0, known.stderr)
  const [{ requests }] = JSON.parse(known.stdout).stages
  assert.equal(requests.done, requests.all)
  assert.deepEqual([...seen], ['GET /team/v1/models', 'POST /team/v1/chat/completions'])
  assert.doesNotMatch(known.stdout + known.stderr, /secret/)
  assert.equal(unknown.status, 69)
  assert.match(unknown.stderr, /answers 401: put its key in WARMPATH_API_KEY/)
})

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'warmpath-bench-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

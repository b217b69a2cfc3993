/** `warmpath report` as its users meet it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { decisionLine, endpointLine, headerLine, outcomeLine } from './support/decision-lines.ts'

const program = join(import.meta.dirname, '../bin/warmpath')

function report(args: readonly string[], input = '') {
  return spawnSync(program, ['report', ...args], { encoding: 'utf8', input, timeout: 60_000 })
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'warmpath-report-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

/** Two sessions, one of them of two calls; a refusal; a line that is cut off. */
const log = [
  headerLine(),
  endpointLine('e0', 0),
  decisionLine({ id: 'a', session: 's0' }),
  outcomeLine({ id: 'a', cachedTokens: 128 }),
  decisionLine({ id: 'b', session: 's0', arrivedAtMs: 7_000 }),
  outcomeLine({ id: 'b', cachedTokens: 192 }),
  decisionLine({ id: 'c', session: 's1', tenant: 'other', arrivedAtMs: 1_000 }),
  '{"type":"outcome","id":"c","atMs":',
  outcomeLine({ id: 'c', ttftMs: 400, e2eMs: 1_000, outputTokens: 11 }),
  decisionLine({ id: 'd', decision: 'refuse', endpoint: null, code: 'queue-full' }),
]

const page = [
  'What happened, 2026-12-01 00:00:00 to 2026-12-01 00:00:09 UTC',
  '',
  'By model',
  'model  requests  refused  failed  TTFT p50 s   p90   p99  TPOT p50 ms  E2E p50 s   p99  cached %  recomputed Mtok',
  'm             4        1       0        0.80  0.80  0.80         12.0       2.00  2.00      41.7            0.000',
  '',
  'By tenant',
  'tenant   requests  refused  failed  TTFT p50 s   p90   p99  TPOT p50 ms  E2E p50 s   p99  cached %  recomputed Mtok',
  'default         3        1       0        0.80  0.80  0.80         12.0       2.00  2.00      62.5            0.000',
  'other           1        0       0        0.40  0.40  0.40         60.0       1.00  1.00       0.0            0.000',
  '',
  'By endpoint',
  'endpoint  requests  refused  failed  TTFT p50 s   p90   p99  TPOT p50 ms  E2E p50 s   p99  cached %  recomputed Mtok',
  'e0               3        0       0        0.80  0.80  0.80         12.0       2.00  2.00      41.7            0.000',
  '',
  'Tasks',
  'tasks  completed  of several calls  calls p50  p50 s  p90  p99  max  cost per completed task  in all',
  '    2          2                 1          2    5.0  8.2  8.9  9.0                   5.0000   10.00',
  '',
  'Slowest tasks, and where their time went (s)',
  'session  tenant   began                calls  all  held  queue  prefill  decode  unanswered  tool  completed',
  's0       default  2026-12-01 00:00:00      2  9.0   0.0    0.4      1.2     2.4         0.0   5.0  yes',
  's1       other    2026-12-01 00:00:01      1  1.0   0.0    0.1      0.3     0.6         0.0   0.0  yes',
  '',
  'How often',
  'what                          times',
  'refused: queue-full               1',
  'lines that could not be read      1',
  '',
  'In 9.00 s, 75.0 % of 4 requests were answered, 41.7 % of their prompts from cache; half of the ' +
    'answers began within 0.80 s, 99 % within 0.80 s. 2 of 2 tasks were completed, at 5.00 each; ' +
    'half of them took 5.00 s at most, most of it between calls, with tools and people. One line ' +
    'could not be read.',
]

test('a small log: tables, a sentence, and the bad line by file and line', (t) => {
  const path = join(folder(t), 'log.jsonl')
  writeFileSync(path, log.join('\n'))
  const { status, stdout, stderr } = report([path, '--price-per-hour', '4000'])
  assert.deepEqual(stdout.trimEnd().split('\n'), page)
  assert.equal(stderr, `warmpath: ${path}:8: not JSON (cut off, perhaps)\n`)
  assert.equal(status, 0)
})

test('every number of the page is in --json', (t) => {
  const html = join(folder(t), 'page.html')
  const { status, stdout } = report(['-', '--json', '--html', html], log.join('\n'))
  assert.equal(status, 0)
  const numbers = new Set<number>()
  const figures = JSON.parse(stdout, (_, value) => {
    if (typeof value === 'number') numbers.add(value)
    return value
  })
  assert.equal(figures.schema, 'warmpath-log-report/1')
  assert.equal(figures.lines.bad, 1)
  const text = readFileSync(html, 'utf8').replaceAll(/<details>.*?<\/details>/gs, '')
  const shown = [...text.matchAll(/<data value="([^"]+)"/g)].map(([, value]) => Number(value))
  assert.ok(shown.length > 50)
  assert.deepEqual(
    shown.filter((value) => !numbers.has(value)),
    [],
  )
  assert.equal(text.match(/<svg /g)?.length, 8)
})

test('the older file of a rotated log comes first', (t) => {
  const path = folder(t)
  writeFileSync(join(path, 'log.1'), log.slice(0, 4).join('\n'))
  writeFileSync(join(path, 'log'), [headerLine(), ...log.slice(4, 6)].join('\n'))
  const { stdout } = report([join(path, 'log.1'), join(path, 'log'), '--json'])
  const { tasks, starts } = JSON.parse(stdout)
  assert.deepEqual([tasks.all, tasks.ofSeveralCalls, starts], [1, 1, 1])
})

test('what cannot be read is said', (t) => {
  const path = join(folder(t), 'log.jsonl')
  writeFileSync(path, headerLine({ version: 99 }))
  const wrong: [string[], number, RegExp][] = [
    [['/no/such/log'], 66, /cannot read \/no\/such\/log: no such file/],
    [[path], 78, /log\.jsonl:1: decision log version 99; this program reads up to 1/],
    [[path, '--task-gap', '5'], 64, /It takes a time such as/],
    [[path, '--price-per-hour', 'much'], 64, /It takes a number from 0/],
  ]
  for (const [args, expected, message] of wrong) {
    const { status, stdout, stderr } = report(args)
    assert.deepEqual([status, stdout], [expected, ''], args.join(' '))
    assert.match(stderr, message)
  }
  const empty = report(['-'], headerLine())
  assert.equal(empty.status, 1)
  assert.match(empty.stdout, /No request in the log\.\n$/)
})

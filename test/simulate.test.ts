/** `warmpath simulate` as its users meet it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const program = join(import.meta.dirname, '../bin/warmpath')
const small = ['--workload', 'code-generation,sessions=8,turns=4', '--seeds', '2']

function simulate(...args: string[]) {
  return spawnSync(program, ['simulate', ...args], { encoding: 'utf8', timeout: 60_000 })
}

test('policies stand side by side, and a sentence says what it comes to', () => {
  const { status, stdout } = simulate(...small, '--fleet', '4xqwen3-coder-480b-tpu-v7x')
  assert.equal(status, 0)
  assert.match(stdout, /^simulated: code-generation,sessions=8,turns=4 on 4x.*, seeds 1 to 2\n/)
  const lines = stdout.split('\n')
  const rows = lines.filter((line) => /^(round-robin|session-affinity|warmpath) /.test(line))
  assert.equal(rows.length, 5)
  assert.equal(new Set(rows.slice(0, 3).map((row) => row.length)).size, 1)
  assert.match(rows[4]!, /^warmpath +×\d+\.\d+ \[\d+\.\d+, \d+\.\d+\]/)
  assert.match(stdout, /On this traffic \S+ serves \d\.\d\d times the tokens of round-robin/)
})

test('as JSON: every figure of every run, and what it was made with', () => {
  const { status, stdout } = simulate(...small, '--policy', 'random,least-request', '--json')
  assert.equal(status, 0)
  const report = JSON.parse(stdout)
  assert.equal(report.schema, 'warmpath-simulation/1')
  assert.deepEqual(report.seeds, [1, 2])
  assert.equal(report.members.length, 8)
  assert.equal(report.arms[1].name, 'least-request')
  assert.equal(report.arms[1].runs[1].seed, 2)
  assert.equal(report.arms[1].runs[1].requests.done, 32)
  assert.equal(report.arms[1].ratios.length, report.metrics.length)
})

test('what there is can be listed; what there is not is said before anything runs', () => {
  assert.match(simulate('--list').stdout, /code-generation.*round-robin.*qwen3-32b-2xh100/s)
  const wrong: [string[], RegExp][] = [
    [['--workload', 'code'], /--workload: no workload "code"; there are code-generation/],
    [['--policy', 'fastest'], /--policy: no policy "fastest"; there are /],
    [['--fleet', '8xnone'], /--fleet: no profile and no file "none"/],
    [['--information', 'good'], /--information: information is perfect, approximate or /],
    [['--seeds', '0'], /It takes a whole number from 1/],
  ]
  for (const [args, message] of wrong) {
    const { status, stdout, stderr } = simulate(...args)
    assert.deepEqual([status, stdout], [64, ''], args.join(' '))
    assert.match(stderr, message)
  }
})

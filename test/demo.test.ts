import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)

test('the demo runs by itself, without an error, and shows the difference', async () => {
  const args = ['demo', '--duration', '6', '--port', '0', '--time-scale', '5', '--agents', '6']
  const { stdout } = await run(join(root, 'bin', 'warmpath'), args)
  const row = (policy: string): string[] =>
    stdout
      .split('\n')
      .find((line) => line.startsWith(`${policy} `))!
      .split(/ +/)
  const [, calls, , errors, hit] = row('warmpath')
  const [, baselineCalls, , baselineErrors, baselineHit] = row('round-robin')
  assert.ok(Number(calls) > 10 && Number(baselineCalls) > 10, stdout)
  assert.deepEqual([errors, baselineErrors], ['0', '0'])
  assert.ok(Number(hit) > Number(baselineHit), stdout)
})

test('the demo in overload: sessions wait at the router, and those that run find their context', async () => {
  const args = ['demo', '--duration', '6', '--port', '0', '--time-scale', '5', '--overload']
  const { stdout } = await run(join(root, 'bin', 'warmpath'), args)
  const row = (policy: string): string[] =>
    stdout
      .split('\n')
      .find((line) => line.startsWith(`${policy} `))!
      .split(/ +/)
  const [, calls, , errors, hit] = row('warmpath')
  const [, , , , baselineHit] = row('round-robin')
  assert.equal(errors, '0', stdout)
  assert.ok(Number(calls) > 20 && Number(hit) > 2 * Number(baselineHit), stdout)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { sampleReport } from '../../test/support/sample-report.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { CommandFailure } from './command-failure.ts'
import {
  printReport,
  provenance,
  type ReportFlags,
  reportFlags,
  reportText,
} from './print-report.ts'

test('a report on a terminal: its tables line up, its sentence stands last', () => {
  const report = sampleReport('warmpath')
  assert.deepEqual(reportText(report).split('\n'), [
    'Sample warmpath',
    '',
    'Latency of warmpath',
    'warmpath     requests  TTFT p50 s  good %              ratio',
    'round-robin    12,031       17.39    43.1                  –',
    'warmpath       12,031        2.47    97.3  0.14 [0.13, 0.15]',
    'nothing             0           –       –                  –',
    'Half of it is made up, the rest is warmpath.',
    '',
    'Made up, to see what a report looks like: warmpath needs 41 % less time.',
  ])
})

test("a page that cannot be written is the command line's fault, named with its path", async () => {
  const flags = reportFlags(new Command()).parse(['--html', 'no-folder/a.html'], { from: 'user' })
  await assert.rejects(
    printReport(sampleReport('warmpath'), {}, flags.opts<ReportFlags>()),
    new CommandFailure(exitCodes.usage, '--html: cannot write no-folder/a.html: no such folder'),
  )
})

test('what a command knows of its figures stands before what is known of all', async () => {
  const { device, seeds, simulated, command } = await provenance({ seeds: [4], simulated: true })
  assert.deepEqual([seeds, simulated], [[4], true])
  assert.match(device ?? '', /GiB, Node/)
  assert.match(command, /^warmpath/)
})

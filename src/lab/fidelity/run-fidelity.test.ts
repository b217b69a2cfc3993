import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fidelityReport } from './fidelity-report.ts'
import { errorShare, errorShareMax, runFidelity } from './run-fidelity.ts'

test('G0: the ladder of llm-d within 15 % where no queue stands, with the knee where it was', async () => {
  const fidelity = await runFidelity({ agentsSeeds: 1 })
  for (const { arm, perSecond, outputPerSecond, backlogged } of fidelity.ladder) {
    const error = errorShare(outputPerSecond)
    const at = `${arm} at ${perSecond}/s: ${(100 * error).toFixed(1)} %`
    assert.ok(backlogged || Math.abs(error) <= errorShareMax, at)
  }
  const turn = fidelity.ladder.filter(({ arm }) => arm === 'round-robin')
  const first = turn.find(({ ttftMeanS }) => ttftMeanS.simulated > 5)!
  assert.equal(first.perSecond, 20)
  const from = { version: '0', command: 'c', date: null, seeds: [1], traceHash: null, device: null }
  const report = fidelityReport(fidelity, { ...from, simulated: true })
  assert.match(report.summary, /within 15 % of what was published in (\d+) of \1 stages/)
})

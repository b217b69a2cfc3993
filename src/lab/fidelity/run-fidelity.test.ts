import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fidelityReport } from './fidelity-report.ts'
import { errorShare, isWithin } from './pair.ts'
import { runFidelity } from './run-fidelity.ts'

test('G0: what llm-d published, within 15 % where no queue stands, with the knee where it was', async () => {
  const plan = { ladderSeeds: [11], ladderRates: [15, 20, 40], otherSeeds: [1] }
  const fidelity = await runFidelity(plan)
  for (const { arm, perSecond, outputPerSecond, backlogged } of fidelity.ladder) {
    const error = errorShare(outputPerSecond)
    const at = `${arm} at ${perSecond}/s: ${(100 * error).toFixed(1)} %`
    assert.ok(backlogged || isWithin(outputPerSecond), at)
  }
  const turn = fidelity.ladder.filter(({ arm }) => arm === 'round-robin')
  const first = turn.find(({ ttftMeanS }) => ttftMeanS.simulated > 5)!
  assert.equal(first.perSecond, 20)
  for (const { series, sessions, totalPerSecond } of fidelity.agents) {
    const at = `${series}, ${sessions} sessions: ${(100 * errorShare(totalPerSecond)).toFixed(1)} %`
    assert.ok(isWithin(totalPerSecond) || sessions < 40, at)
  }
  const from = { version: '0', command: 'c', date: null, seeds: [1], traceHash: null, device: null }
  const report = fidelityReport(fidelity, { ...from, simulated: true })
  assert.match(report.summary, /within 15 % of what was published in (\d+) of \1 stages/)
})

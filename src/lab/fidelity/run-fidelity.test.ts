import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fidelityReport } from './fidelity-report.ts'
import { errorShare, isWithin } from './pair.ts'
import { runFidelity } from './run-fidelity.ts'

test('G0: what llm-d published, within 15 % where no queue stands, with the knee where it was', async () => {
  const plan = { stageSeeds: [11], rates: [15, 20, 40], otherSeeds: [1] }
  const fidelity = await runFidelity(plan)
  for (const { experiment, series, perSecond, tokensPerSecond, backlogged } of fidelity.stages) {
    const error = `${(100 * errorShare(tokensPerSecond)).toFixed(1)} %`
    const at = `${experiment}, ${series} at ${perSecond}/s: ${error}`
    assert.ok(backlogged || isWithin(tokensPerSecond), at)
  }
  const turn = fidelity.stages.filter(({ series }) => series === 'round-robin')
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

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kneeOf, rateBetween, sweepRates } from './knee.ts'
import { OpenCallTrend } from './stability.ts'
import type { StageFigures } from './stage-figures.ts'

const url = 'http://a'

function stage(perSecond: number, share: number, more: Partial<StageFigures> = {}): StageFigures {
  const load = { kind: 'rate', perSecond, arrivals: 'poisson' }
  const figures = { url, load, goodput: { share }, verdict: 'stable', keptRate: true, cut: false }
  return { ...figures, ...more } as StageFigures
}

test('the knee is the highest rate below the first that failed', () => {
  const stages = [stage(1, 1), stage(2, 0.99), stage(4, 0.5), stage(8, 0.96), stage(3, 0.97)]
  assert.deepEqual(kneeOf(url, stages), { url, perSecond: 3, failedAt: 4 })
  assert.deepEqual(kneeOf(url, stages.slice(0, 2)), { url, perSecond: 2, failedAt: null })
  assert.deepEqual(kneeOf(url, [stage(1, 0.2)]), { url, perSecond: null, failedAt: 1 })
  assert.deepEqual(kneeOf('http://b', stages), { url: 'http://b', perSecond: null, failedAt: null })
})

test('requests that pile up fail a stage; a bench that was late, or stopped, proves nothing', () => {
  const piled = stage(4, 1, { verdict: 'overloaded' })
  assert.deepEqual(kneeOf(url, [stage(1, 1), piled]), { url, perSecond: 1, failedAt: 4 })
  for (const doubt of [{ keptRate: false }, { cut: true }]) {
    const judged = kneeOf(url, [stage(1, 1), stage(4, 0, doubt), stage(8, 1, doubt)])
    assert.deepEqual(judged, { url, perSecond: 1, failedAt: null })
  }
})

test('rates of a sweep rise by one factor; between knee and failure lies their geometric mean', () => {
  assert.deepEqual(sweepRates(1, 32, 6), [1, 2, 4, 8, 16, 32])
  assert.equal(rateBetween({ url, perSecond: 4, failedAt: 9 }), 6)
  assert.equal(rateBetween({ url, perSecond: 4, failedAt: 4.2 }), null)
  assert.equal(rateBetween({ url, perSecond: 4, failedAt: null }), null)
})

test('open requests that grow with time are told from those that go up and down', () => {
  const trend = (openAt: (second: number) => number): OpenCallTrend => {
    const looks = new OpenCallTrend()
    for (let s = 0; s < 60; s++) looks.look(s * 1_000, openAt(s))
    return looks
  }
  assert.equal(trend((s) => 10 + 5 * Math.sin(s)).verdict(600), 'stable')
  assert.equal(trend((s) => 10 + s).verdict(600), 'overloaded')
  // A twentieth of what was sent, and no more.
  assert.equal(trend((s) => 10 + s / 2).verdict(600), 'stable')
  assert.equal(new OpenCallTrend().verdict(0), 'stable')
})

/** The pass rule, on figures made by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Metric, quantileMetric } from '../measure/compare.ts'
import { armsOf } from '../runner/arm-spec.ts'
import type { ArmResults } from '../runner/run-arms.ts'
import type { JobResult } from '../runner/simulation-job.ts'
import { worstSeed } from './goal-metrics.ts'
import { measured, measuredAcross, outcomeOf } from './judge.ts'
import { bestVariants, finalistsOf, ranked } from './screening.ts'
import { verdictsOf } from './verdicts.ts'

const metric: Metric = { ...quantileMetric('score', 'ttftMs', 0.5), moreIsBetter: true }

/** Runs of which only the score counts, one a seed. */
function runs(...scores: number[]): JobResult[] {
  return scores.map((score) => ({ samples: { ttftMs: [score] } }) as unknown as JobResult)
}

function arm(name: string, ...scores: number[]): ArmResults {
  const [choice] = armsOf(name)
  return { name, choice: choice!, runs: runs(...scores) }
}

test('a claim is met when its whole interval meets the number', () => {
  const atLeast = { atLeast: 1.5 }
  assert.equal(outcomeOf({ value: 1.7, low: 1.5, high: 1.9 }, atLeast), 'met')
  assert.equal(outcomeOf({ value: 1.7, low: 1.49, high: 1.9 }, atLeast), 'not shown')
  assert.equal(outcomeOf({ value: 1.4, low: 1.3, high: 1.6 }, atLeast), 'missed')
  assert.equal(outcomeOf({ value: 0.1, low: 0.05, high: 0.15 }, { atMost: 0.15 }), 'met')
  assert.equal(outcomeOf({ value: 0.1, low: 0.05, high: 0.2 }, { atMost: 0.15 }), 'not shown')
  assert.equal(outcomeOf({ value: 9, low: null, high: null }, atLeast), 'not shown')
  assert.equal(outcomeOf({ value: Number.NaN, low: null, high: null }, atLeast), 'missed')
})

test('ratios are paired: what a seed does to both arms is no uncertainty', () => {
  const seeds = [1, 5, 20, 80, 200]
  const twice = measured(metric, runs(...seeds.map((one) => 2 * one)), runs(...seeds))
  assert.deepEqual(twice, { value: 2, low: 2, high: 2 })
  const alone = measured(metric, runs(...seeds))
  assert.equal(alone.value, 20)
  assert.ok(alone.low! < 20 && alone.high! > 20)
})

test('across points, seeds stay paired and each point counts the same', () => {
  const points = [runs(10, 20), runs(1, 2)]
  const { value, low, high } = measuredAcross(metric, points, [runs(5, 10), runs(0.5, 1)])
  assert.deepEqual([value, low, high], [2, 2, 2])
  assert.equal(measuredAcross(metric, points, null).value, 8.25)
})

test('a seed that falls apart shows', () => {
  const least = worstSeed(metric)
  assert.equal(measured(least, runs(4, 4, 4)).value, 4)
  assert.deepEqual(measured(least, runs(4, 5, 1)), { value: 1, low: 1, high: 5 })
  const most = worstSeed({ ...metric, moreIsBetter: false })
  assert.equal(measured(most, runs(4, 5, 1)).value, 5)
})

test('peers are put in order by the figure, each arm by its best variant', () => {
  const variant = (score: number): ArmResults => {
    const [, other] = armsOf('warmpath:all')
    return { name: 'warmpath:other', choice: other!, runs: runs(score) }
  }
  const screened = [
    arm('random', 1),
    arm('warmpath', 2),
    variant(7),
    arm('round-robin', 3),
    arm('prefix-only', Number.NaN),
    arm('power-of-two', 5),
  ]
  const names = (arms: readonly ArmResults[]) => arms.map(({ name }) => name)
  const order = ['warmpath:other', 'power-of-two', 'round-robin', 'random', 'prefix-only']
  assert.deepEqual(names(bestVariants(screened, metric)), order)
  assert.deepEqual(names(ranked(screened, { ...metric, moreIsBetter: false })).slice(0, 2), [
    'random',
    'warmpath',
  ])
  assert.deepEqual(
    names(finalistsOf(screened, metric, [{ metric, against: { defaults: 'warmpath' } }])),
    ['warmpath:other', 'power-of-two', 'round-robin', 'warmpath'],
  )
})

test('each claim is judged at its points against what it names', () => {
  const ours = arm('warmpath', 30, 30)
  const peers = [arm('session-affinity', 20, 20), arm('round-robin', 10, 10)]
  const points = [
    { point: { name: 'a' }, ours, peers },
    { point: { name: 'b' }, ours: arm('warmpath', 15, 15), peers },
  ]
  const claims = [
    { metric, against: { peer: 'best' }, atLeast: 1.2 },
    { metric, points: ['a'], against: { defaults: 'round-robin' }, atLeast: 2.5 },
    { metric, points: ['b'], against: { point: 'a' }, atLeast: 0.9 },
    { metric, points: ['b'], against: { point: 'c' }, atLeast: 0.9 },
    { metric, points: ['a'], against: { tuned: 'random' }, atLeast: 1 },
    { metric, points: ['a'], atLeast: 30 },
    { metric, points: ['a'], against: { bestOf: ['round-robin', 'random'] }, atLeast: 3 },
    { metric, points: ['a'], against: { bestBut: ['session-affinity'] }, atLeast: 3 },
  ] as const
  const said = verdictsOf(claims, points).map(({ point, against, interval, outcome }) => [
    point,
    against,
    interval?.value ?? null,
    outcome,
  ])
  assert.deepEqual(said, [
    ['a', 'session-affinity', 1.5, 'met'],
    ['b', 'session-affinity', 0.75, 'missed'],
    ['a', 'round-robin', 3, 'met'],
    ['b', 'a', 0.5, 'missed'],
    ['b', 'c', null, 'not judged'],
    ['a', 'random', null, 'not judged'],
    ['a', null, 30, 'met'],
    ['a', 'round-robin', 3, 'met'],
    ['a', 'round-robin', 3, 'met'],
  ])
  const across = [
    { metric, across: true, against: { defaults: 'round-robin' }, atLeast: 2 },
  ] as const
  const [mean] = verdictsOf(across, points)
  assert.deepEqual([mean!.point, mean!.interval!.value], ['mean of 2', 2.25])
  assert.equal(verdictsOf(across, points, 3)[0]!.outcome, 'not judged')
})

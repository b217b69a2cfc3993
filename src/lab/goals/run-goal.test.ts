/** A goal from its data to its verdicts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { armNamed, arms } from '../arms/arms.ts'
import { profileNamed } from '../engine/profiles.ts'
import type { Provenance } from '../report/report.ts'
import { fleetOf } from '../runner/fleet-spec.ts'
import { parseWorkload } from '../workload/workloads.ts'
import type { Goal } from './goal.ts'
import { goalFigures } from './goal-figures.ts'
import { throughput, ttftP50 } from './goal-metrics.ts'
import { goalReport } from './goal-report.ts'
import { goals, goalsNamed } from './goals.ts'
import { runGoal } from './run-goal.ts'

const tiny: Goal = {
  name: 'T1',
  title: 'a few agents',
  rank: throughput,
  points: [
    {
      name: 'six',
      workload: 'code-generation,sessions=6,turns=4,ownTokensMean=20000',
      fleet: '2xqwen3-coder-480b-tpu-v7x:kvTokens=300000',
    },
    { name: 'more', workload: 'code-generation', fleet: 'none', fullOnly: true },
    { name: 'recorded', workload: 'recorded', recording: 'none.jsonl.gz', fleet: 'none' },
  ],
  claims: [
    { metric: throughput, against: { defaults: 'round-robin' }, atLeast: 0.1 },
    { metric: ttftP50, against: { peer: 'best' }, atMost: 1e-9 },
  ],
}

const from: Provenance = {
  version: '1',
  command: 'warmpath lab goal T1',
  date: null,
  seeds: [1, 2, 3],
  traceHash: null,
  device: null,
  simulated: true,
}

test('every arm is screened, the best go on, and the claims are judged', async () => {
  const plan = { seeds: 3, screeningSeeds: 1, quick: true, dataFolder: '.' }
  const seen: [number, number][] = []
  const result = await runGoal(tiny, plan, (done, of) => seen.push([done, of]))
  const [six, ...others] = result.points
  assert.equal(others.length, 0)
  assert.deepEqual(result.missing, ['none.jsonl.gz'])
  assert.equal(six!.screened.arms, arms.length - 1)
  assert.equal(six!.ours.name, 'warmpath')
  assert.ok(six!.peers.length >= 3)
  for (const { runs } of [six!.ours, ...six!.peers]) {
    assert.deepEqual(
      runs.map(({ figures }) => figures.sessions),
      new Array(3).fill({ all: 6, completed: 6 }),
    )
  }
  const [first, second] = result.verdicts
  assert.deepEqual([first!.against, first!.outcome], ['round-robin', 'met'])
  assert.deepEqual([second!.against, second!.outcome], [six!.peers[0]!.name, 'missed'])
  assert.equal(seen.at(-1)![0], seen.at(-1)![1])
  const page = goalReport([result], from)
  assert.match(
    page.summary,
    /^1 of 2 claims of T1 are met, 1 missed\..*TTFT p50 falls short at six/s,
  )
  const drawn = page.sections[0]!.parts.flatMap((part) => (part.kind === 'plot' ? part.plot : []))
  assert.deepEqual(drawn, ['bars', 'cdf', 'gantt', 'heatmap'])
  const report = JSON.parse(JSON.stringify(goalFigures([result])))
  assert.equal(report.goals[0].points[0].arms[0].runs[2].seed, 3)
  assert.equal(report.goals[0].claims[0].figure, 'tokens/s')
})

test('every goal names workloads, fleets and arms that there are, and points of its own', () => {
  for (const { name, points, claims } of goals) {
    const names = points.map((point) => point.name)
    assert.equal(new Set(names).size, names.length, name)
    for (const { workload, fleet, recording } of points) {
      if (recording === undefined) parseWorkload(workload)
      fleetOf(fleet, profileNamed)
    }
    for (const { against } of claims) {
      if (against === undefined) continue
      if ('defaults' in against) armNamed(against.defaults)
      if ('tuned' in against) armNamed(against.tuned)
      if ('point' in against) assert.ok(names.includes(against.point))
    }
    for (const claim of claims) {
      for (const point of claim.points ?? []) assert.ok(names.includes(point), `${name}: ${point}`)
    }
  }
})

test('goals are asked for by name', () => {
  assert.deepEqual(
    goalsNamed(['g3', 'G2']).map(({ name }) => name),
    ['G3', 'G2'],
  )
  assert.deepEqual(goalsNamed(['all']), goals)
  assert.throws(() => goalsNamed(['best']), /no goal "best"; there are .*G2.* and all/)
})

/** Simulations in threads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { profileNamed } from '../engine/profiles.ts'
import { replicas } from '../simulator/simulated-fleet.ts'
import { runJobs } from './run-jobs.ts'
import { runSimulationJob, type SimulationJob } from './simulation-job.ts'

const job: SimulationJob = {
  workload: 'code-generation,sessions=6,turns=3,ownTokensMean=20000',
  arm: 'warmpath',
  members: replicas(profileNamed('qwen3-coder-480b-tpu-v7x'), 2),
  seed: 1,
}

const jobs: SimulationJob[] = [
  { ...job, workload: 'code-generation,sessions=30,turns=10', records: true },
  { ...job, seed: 2, information: 'approximate' },
  { ...job, seed: 3, arm: 'round-robin' },
  { ...job, seed: 4, variant: 'no admission' },
]

test('results come in the order of the jobs, and are those of a run without threads', async () => {
  const done: number[] = []
  const results = await runJobs(jobs, { threads: 2, onDone: (count, of) => done.push(count / of) })
  assert.deepEqual(results, jobs.map(runSimulationJob))
  assert.deepEqual(done, [0.25, 0.5, 0.75, 1])
  const { timeline, requests } = results[0]!.records!
  assert.equal(requests.length, 300)
  assert.equal(timeline.engines.length, 2)
  assert.ok(timeline.engines.every((one) => one.kvUsage.length === timeline.atMs.length))
  assert.ok(Math.max(...timeline.engines[0]!.running) > 0)
})

test('a job that fails says which one it is, and why', async () => {
  const bad = { ...job, seed: 7, variant: 'fast' }
  await assert.rejects(runJobs([job, bad], { threads: 1 }), {
    message:
      'warmpath (fast) on code-generation,sessions=6,turns=3,ownTokensMean=20000, seed 7: ' +
      'warmpath has no variant "fast"; there are "defaults", "no admission"',
  })
})

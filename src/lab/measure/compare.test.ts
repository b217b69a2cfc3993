/** Runs of several seeds beside each other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policies } from '../../core/policy/registry.ts'
import { profileNamed } from '../engine/profiles.ts'
import { simulate } from '../simulator/simulate.ts'
import { replicas } from '../simulator/simulated-fleet.ts'
import { codeGeneration, codeGenerationDefaults } from '../workload/code-generation.ts'
import { aloneMs } from './alone.ts'
import { compareArms, meanMetric, quantileMetric } from './compare.ts'
import { sloDefaults } from './goodput.ts'
import { type MeasuredRun, measureRun } from './measure-run.ts'
import { SeedSamples } from './seed-samples.ts'
import { quantileOf } from './spread.ts'

const profile = { ...profileNamed('qwen3-coder-480b-tpu-v7x'), kvTokens: 200_000 }
const size = {
  ...codeGenerationDefaults,
  sessions: 6,
  turns: 4,
  ownTokensMean: 30_000,
  ownTokensStdDev: 15_000,
}

function run(policy: 'round-robin' | 'session-affinity', seed: number): MeasuredRun {
  const workload = codeGeneration(size, seed)
  const members = replicas(profile, 2)
  return measureRun(simulate({ workload, policy: policies[policy], members, seed }), workload)
}

const metrics = [
  meanMetric('tokens', true, ({ whole }) => whole.totalTokens),
  quantileMetric('TTFT p50', 'ttftMs', 0.5),
]

test('quantiles over seeds are those of all samples, by how often each seed counts', () => {
  const seeds = [[5, 1, 3], [2, 9], [4]]
  const samples = new SeedSamples(seeds)
  for (const weights of [
    [1, 1, 1],
    [0, 2, 1],
    [3, 0, 0],
    [1, 1, 0],
  ]) {
    const all = seeds.flatMap((values, i) => Array.from({ length: weights[i]! }, () => values))
    const sorted = all.flat().sort((a, b) => a - b)
    for (const p of [0, 0.3, 0.5, 0.9, 1]) {
      assert.equal(samples.quantile(p, weights), quantileOf(sorted, p), `${weights} at ${p}`)
    }
  }
  assert.ok(Number.isNaN(samples.quantile(0.5, [0, 0, 0])))
})

test('an arm is compared with the first on the same seeds, with an interval', () => {
  const seeds = [1, 2, 3]
  const of = (policy: Parameters<typeof run>[0]) => ({
    name: policy,
    runs: seeds.map((seed) => run(policy, seed)),
  })
  const [base, same, ours] = compareArms(
    [of('round-robin'), of('round-robin'), of('session-affinity')],
    metrics,
  )
  assert.equal(base!.ratios, null)
  assert.deepEqual(same!.ratios, [
    { value: 1, low: 1, high: 1 },
    { value: 1, low: 1, high: 1 },
  ])
  const [gain] = ours!.differences!
  assert.equal(gain!.value, ours!.values[0]! - base!.values[0]!)
  assert.ok(gain!.low! > 0 && gain!.low! < gain!.value && gain!.high! > gain!.value)
  const [tokens, ttft] = ours!.ratios!
  assert.ok(tokens!.value > 1 && tokens!.low! <= tokens!.value && tokens!.value <= tokens!.high!)
  assert.ok(ttft!.value < 0.5)
  assert.equal(compareArms([{ name: 'a', runs: [run('round-robin', 1)] }], metrics).length, 1)
})

test('the figures of a run add up', () => {
  const { figures, samples } = run('session-affinity', 1)
  const { requests, sessions, reuse, slowdown, cost, steady, tenants, whole } = figures
  assert.deepEqual(requests, { all: 24, done: 24, refused: 0, failed: 0, open: 0 })
  assert.deepEqual(sessions, { all: 6, completed: 6 })
  assert.ok(reuse.captured! > 0.9 && reuse.captured! <= 1)
  assert.ok(slowdown.count === 6 && samples.slowdown.every((factor) => factor > 0.95))
  assert.ok(Math.abs(cost.total - (2 * 40 * whole.toMs) / 3_600_000) < 1e-9)
  assert.ok(steady!.toMs < whole.toMs && steady!.totalTokens > 0)
  assert.deepEqual(tenants, {})
  assert.ok(figures.itlMs.p99 >= figures.itlMs.p50 && figures.itlMs.p50 > profile.t0Ms)
})

test('stretches of a run are measured by themselves, and make up the whole', () => {
  const workload = codeGeneration(size, 1)
  const members = replicas(profile, 2)
  const result = simulate({ workload, policy: policies['round-robin'], members, seed: 1 })
  const halves = {
    first: { fromMs: 0, toMs: result.endMs / 2 },
    second: { fromMs: result.endMs / 2, toMs: result.endMs },
  }
  const { windows, requests } = measureRun(result, workload, sloDefaults, halves).figures
  const { first, second } = windows
  assert.ok(first!.requests.all > 0 && second!.requests.all > 0)
  assert.equal(first!.requests.all + second!.requests.all, requests.all)
  assert.deepEqual([first!.sessions.all, second!.sessions.all], [6, 0])
})

test('a session alone takes its gaps, its prefills and its decodes', () => {
  const [session] = codeGeneration({ ...size, sessions: 1 }, 1).sessions
  const gaps = session!.turns.reduce((sum, { gapMs }) => sum + gapMs, 0)
  const decodes = session!.turns.reduce((sum, one) => sum + one.outputTokens * profile.t0Ms, 0)
  const prefill = session!.turns.at(-1)!.promptTokens * profile.prefillMsPerToken
  const ms = aloneMs(session!, profile)!
  const least = gaps + decodes + prefill
  assert.ok(ms > least && ms < 1.3 * least, `${ms}, at least ${least}`)
  assert.equal(aloneMs(session!, { ...profile, kvTokens: 10_000 }), null)
})

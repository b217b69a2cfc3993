/** The experiments and their fit against engines in virtual time, whose numbers are known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VirtualEngine, type VirtualManners } from '../../../test/support/virtual-engine.ts'
import { seededRandom } from '../../base/random.ts'
import { type EngineProfile, profileDefaults } from '../engine/profile.ts'
import { profileNamed } from '../engine/profiles.ts'
import { planExperiments } from './experiment-plan.ts'
import { fitCoefficients } from './fit-coefficients.ts'
import { coefficients } from './observation.ts'
import { cacheJudge, cacheWorks, unitOf, untoldWithoutCache, withoutCache } from './prefix-cache.ts'
import { probeCapacity } from './probe-capacity.ts'
import { type RunResult, runExperiments } from './run-experiments.ts'
import { UniqueText } from './unique-text.ts'

async function measured(engine: VirtualEngine, roundsMax = 1, minutes = 60): Promise<RunResult> {
  const { contextTokensMax, kvTokens, runningMax, blockTokens } = engine.model.profile
  const limits = { contextTokensMax, kvTokens, runningMax, atOnceMax: 16, promptTokensMax: 32_768 }
  return engine.until(
    runExperiments({
      engine,
      experiments: planExperiments(limits),
      text: new UniqueText(seededRandom(7)),
      clock: engine.time,
      roundsMax,
      untilMs: minutes * 60_000,
      firstTokenMsMax: minutes * 6_000,
      blockTokens,
    }),
  )
}

/** Each coefficient within `share` of the profile's. */
function assertFound(profile: EngineProfile, run: RunResult, share: number): void {
  const fit = fitCoefficients(run.observations, profile.batchTokensMax)
  for (const name of coefficients) {
    const { value } = fit.coefficients[name]
    const off = Math.abs(value - profile[name])
    assert.ok(off <= share * profile[name] + 1e-12, `${name}: ${value}, not ${profile[name]}`)
  }
}

const ms = (least: number, most: number) =>
  fc.double({ min: Math.log(least), max: Math.log(most), noNaN: true }).map(Math.exp)

const anyProfile: fc.Arbitrary<EngineProfile> = fc.record({
  t0Ms: ms(1, 50),
  prefillMsPerToken: ms(0.005, 0.3),
  pairMs: ms(2e-7, 1e-5),
  contextMsPerToken: ms(1e-5, 2e-4),
  logicalContextMsPerToken: ms(2e-6, 5e-5),
  perSequenceMs: ms(0.01, 0.5),
  ingressMs: ms(1, 100),
  ingressMsPerToken: ms(1e-4, 3e-3),
  kvTokens: fc.integer({ min: 60_000, max: 1_000_000 }),
  blockTokens: fc.constantFrom(16, 32, 64),
  batchTokensMax: fc.constantFrom(1_024, 2_048, 8_192),
  contextTokensMax: fc.constantFrom(32_768, 131_072),
  ...Object.fromEntries(
    Object.entries({ ...profileDefaults, pricePerHour: 0, name: 'x', model: 'x', source: 'x' })
      .filter(([key]) => !/^(perSequenceMs|ingress|block|batch|context)/.test(key))
      .map(([key, value]) => [key, fc.constant(value)]),
  ),
} as never)

test('any profile is found back, and the budget of its steps', async () => {
  await fc.assert(
    fc.asyncProperty(anyProfile, async (profile) => {
      const run = await measured(new VirtualEngine(profile))
      assertFound(profile, run, 0.03)
      assert.equal(run.batchTokensMax, profile.batchTokensMax)
      assert.equal(unitOf(run.cachedTold), profile.blockTokens)
    }),
    { numRuns: 20, endOnFailure: true },
  )
})

const known = {
  ...profileNamed('llama-3.1-8b-h100'),
  kvTokens: 150_000,
  ingressMs: 3,
  ingressMsPerToken: 0.001,
}

test('an engine that does not say what it found cached is found as well', async () => {
  const run = await measured(new VirtualEngine(known, { silent: true }))
  assert.deepEqual(run.cachedTold, [])
  assert.ok(cacheWorks(run.observations, run.cachedTold))
  assertFound(known, run, 0.05)
})

test('an engine without a prefix cache is known by its times', async () => {
  for (const silent of [true, false]) {
    const run = await measured(new VirtualEngine(known, { silent, forgetful: true }))
    assert.ok(!cacheWorks(run.observations, run.cachedTold))
    const { t0Ms, prefillMsPerToken, pairMs } = fitCoefficients(
      withoutCache(run.observations),
      known.batchTokensMax,
      untoldWithoutCache,
    ).coefficients
    for (const [found, true_] of [
      [t0Ms.value, known.t0Ms],
      // Nothing tells reading a prompt from computing it.
      [prefillMsPerToken.value, known.prefillMsPerToken + known.ingressMsPerToken],
      [pairMs.value, known.pairMs],
    ]) {
      assert.ok(Math.abs(found / true_ - 1) < 0.1, `${found}, not ${true_}`)
    }
  }
})

test('rounds end with the time, and prompts that take too much of it are left out', async () => {
  const slow = { ...known, prefillMsPerToken: 2 }
  const engine = new VirtualEngine(slow)
  const run = await measured(engine, 100, 2)
  assert.ok(engine.time.nowMs() < 2 * 60_000, `${engine.time.nowMs()}`)
  assert.ok(run.rounds >= 1 && run.rounds < 100)
  assert.match(run.skipped.join(), /prompt of 32,768/)
})

test('the KV memory is found by filling it, told or timed', async () => {
  for (const manners of [{}, { silent: true }] satisfies VirtualManners[]) {
    const engine = new VirtualEngine(known, manners)
    const run = await measured(engine)
    const fit = fitCoefficients(run.observations, known.batchTokensMax)
    const found = await engine.until(
      probeCapacity({
        engine,
        text: new UniqueText(seededRandom(8)),
        promptTokensMax: 16_384,
        tokensMax: 2_000_000,
        wasCached: cacheJudge(fit, known.batchTokensMax),
        mayGoOn: () => true,
      }),
    )
    assert.equal(found.atLeast, false)
    const off = Math.abs(found.tokens - known.kvTokens)
    assert.ok(off <= 2 * found.error, `${found.tokens} ± ${found.error}`)
    assert.ok(off < 0.1 * known.kvTokens, `${found.tokens}`)
  }
})

test('a memory larger than what may be filled is at least that', async () => {
  const engine = new VirtualEngine(known)
  const found = await engine.until(
    probeCapacity({
      engine,
      text: new UniqueText(seededRandom(8)),
      promptTokensMax: 8_192,
      tokensMax: 50_000,
      wasCached: (sample) => sample.cachedTokens! * 2 > sample.promptTokens,
      mayGoOn: () => true,
    }),
  )
  assert.ok(found.atLeast && found.tokens >= 50_000)
})

/** Engines that have less cache than they say, and engines that say the truth, under overload. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policies } from '../../src/core/policy/registry.ts'
import { profileNamed } from '../../src/lab/engine/profiles.ts'
import { simulatedWorld } from '../../src/lab/simulator/simulate.ts'
import { codeGeneration, codeGenerationDefaults } from '../../src/lab/workload/code-generation.ts'

const kvTokens = 300_000

/** Sixteen sessions that grow to about 100,000 tokens, on four engines that hold twelve of them. */
function overload(toldTokens: number, seed: number) {
  const profile = { ...profileNamed('qwen3-coder-480b-tpu-v7x'), kvTokens }
  const members = Array.from({ length: 4 }, (_, i) => ({
    endpoint: `http://engine-${i}`,
    profile,
    told: { kvCapacityTokens: toldTokens },
  }))
  const own = { ownTokensMean: 60_000, ownTokensStdDev: 30_000, ownTokensMax: 200_000 }
  const size = {
    ...{
      sessions: 16,
      turns: 20,
      turnTokensStdDev: 0,
      outputTokensStdDev: 0,
      toolMsStdDev: 15_000,
    },
    ...own,
  }
  const workload = codeGeneration({ ...codeGenerationDefaults, ...size }, seed)
  const { world, router } = simulatedWorld({
    members,
    policy: policies.warmpath,
    workload,
    seed,
    information: 'approximate',
  })
  const { requests } = world.run()
  const factors = Array.from(router.fleet.values(), ({ trust }) => trust.capacityFactor)
  const late = requests.slice(requests.length / 2)
  const sum = (of: (request: (typeof late)[number]) => number): number =>
    late.reduce((total, request) => total + of(request), 0)
  return {
    factorMean: factors.reduce((a, b) => a + b, 0) / factors.length,
    believedShare: sum((one) => one.predictedCachedTokens ?? 0) / sum((one) => one.cachedTokens),
  }
}

const seeds = [1, 2, 3]

test('F135: the believed capacity follows engines that have a third of what they say', () => {
  for (const seed of seeds) {
    const { factorMean, believedShare } = overload(3 * kvTokens, seed)
    assert.ok(factorMean > 0.2 && factorMean < 0.7, `seed ${seed}: ${factorMean}`)
    assert.ok(believedShare > 0.85 && believedShare < 1.3, `seed ${seed}: ${believedShare}`)
  }
})

test('the believed capacity stays with engines that say the truth, overloaded as they are', () => {
  for (const seed of seeds) {
    const { factorMean, believedShare } = overload(kvTokens, seed)
    assert.ok(factorMean > 0.8, `seed ${seed}: ${factorMean}`)
    assert.ok(believedShare > 0.85 && believedShare < 1.15, `seed ${seed}: ${believedShare}`)
  }
})

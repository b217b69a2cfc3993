/** What the router is let know of the engines' caches. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../base/random.ts'
import { policies } from '../../core/policy/registry.ts'
import { profileNamed } from '../engine/profiles.ts'
import { codeGeneration, codeGenerationDefaults } from '../workload/code-generation.ts'
import { GrowingContext } from '../workload/context.ts'
import { headOf } from '../workload/session.ts'
import type { Information } from './information.ts'
import { OnTheWay } from './on-the-way.ts'
import { SeenPrefixes } from './seen-prefixes.ts'
import { simulate } from './simulate.ts'
import { replicas } from './simulated-fleet.ts'

const size = {
  sessions: 16,
  turns: 8,
  ownTokensMean: 60_000,
  ownTokensStdDev: 30_000,
  ownTokensMax: 200_000,
}
const workload = codeGeneration({ ...codeGenerationDefaults, ...size }, 3)

/** On engines that hold twelve of the sixteen sessions. */
function run(information: Information) {
  const profile = {
    ...profileNamed('qwen3-coder-480b-tpu-v7x'),
    kvTokens: 220_000,
    hostTokens: 100_000,
  }
  const members = replicas(profile, 4)
  const { requests } = simulate({
    workload,
    policy: policies.warmpath,
    members,
    seed: 1,
    information,
  })
  const errors = requests.map((one) => Math.abs(one.predictedCachedTokens! - one.cachedTokens))
  const cached = requests.reduce((sum, one) => sum + one.cachedTokens, 0)
  return { requests, share: errors.reduce((sum, error) => sum + error, 0) / cached }
}

test('events without delay or loss are perfect information', () => {
  assert.deepEqual(run({ delayMs: 0, lossShare: 0 }).requests, run('perfect').requests)
})

test('the worse the information, the further off is what is expected of the caches', () => {
  const perfect = run('perfect').share
  const lossy = run({ delayMs: 5_000, lossShare: 0.2 }).share
  assert.ok(lossy > perfect, `lossy ${lossy}, perfect ${perfect}`)
  assert.ok(run('approximate').share > perfect)
})

test('property: what is on its way is matched until it is taken off', () => {
  const seeds = fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 20 })), { maxLength: 20 })
  const context = new GrowingContext(seededRandom(1), 64 * 20)
  context.append(64 * 20)
  fc.assert(
    fc.property(seeds, (chains) => {
      const coming = new OnTheWay()
      const sent = chains.map(([, blocks]) => headOf(context.chain(), blocks))
      const longest = (of: readonly { length: number }[]) => Math.max(0, ...of.map((c) => c.length))
      for (const chain of sent) coming.add(chain)
      while (sent.length > 0) {
        assert.equal(coming.match(context.chain()), longest(sent))
        const [taken] = sent.splice(chains[sent.length - 1]![0] % sent.length, 1)
        coming.take(taken!)
      }
      assert.equal(coming.match(context.chain()), 0)
    }),
  )
})

test('memory without end holds whole blocks, and never the last token', () => {
  const seen = new SeenPrefixes()
  const context = new GrowingContext(seededRandom(1), 640)
  context.append(640)
  assert.equal(seen.add(context.chain(), 200), 0)
  assert.equal(seen.add(context.chain(), 400), 192)
  assert.equal(seen.add(context.chain(), 400), 384)
  assert.equal(seen.add(context.chain(), 640), 384)
  assert.equal(seen.add(context.chain(), 640), 576)
})

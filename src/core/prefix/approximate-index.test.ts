import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { labelChain } from '../../../test/support/label-chain.ts'
import { randomInt, seededRandom } from '../../base/random.ts'
import { ApproximateIndex } from './approximate-index.ts'
import { NaiveIndex } from './naive-index.ts'
import { prefixIndexConformance } from './prefix-index.conformance.ts'
import type { PrefixIndex, TierMatch } from './prefix-index.ts'

prefixIndexConformance('approximate', () => new ApproximateIndex())

const slots = [0, 1, 2]

/** Few labels and short chains, so that prompts share heads, collide in capacity and repeat. */
const labels = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 9 })

const operation = fc.record({
  kind: fc.constantFrom(
    'insert',
    'insert',
    'insert',
    'confirm',
    'withdraw',
    'truncate',
    'resize',
    'restart',
  ),
  slot: fc.constantFrom(...slots),
  labels,
  blocks: fc.nat(9),
  gpu: fc.nat(14),
  host: fc.oneof(fc.constant(0), fc.nat(10)),
})

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never

function apply(index: PrefixIndex, { kind, slot, labels, blocks, gpu, host }: Operation): void {
  const chain = labelChain(labels)
  if (kind === 'insert' || kind === 'confirm' || kind === 'withdraw') index[kind](slot, chain)
  else if (kind === 'truncate') index.truncate(slot, chain, blocks)
  else if (kind === 'resize') index.resize(slot, gpu, host)
  else {
    index.remove(slot)
    index.add(slot, gpu, host)
  }
}

function matches(index: PrefixIndex, prompt: readonly number[]): TierMatch[] {
  const out: TierMatch[] = []
  index.match(labelChain(prompt), slots, out)
  return out
}

describe('approximate index against the oracle', () => {
  it('agrees after every step of any history', () => {
    fc.assert(
      fc.property(fc.array(operation, { minLength: 5, maxLength: 60 }), (history) => {
        const fast = new ApproximateIndex()
        const naive = new NaiveIndex()
        for (const slot of slots) for (const index of [fast, naive]) index.add(slot, 6, slot * 4)
        history.forEach((step, i) => {
          apply(fast, step)
          apply(naive, step)
          const sizes = slots.map((slot) => naive.size(slot))
          assert.deepEqual(
            slots.map((slot) => fast.size(slot)),
            sizes,
          )
          const held = sizes.reduce((sum, size) => sum + size.gpuBlocks + size.hostBlocks, 0)
          assert.equal(fast.allocatedBlocks, held)
          for (const { labels } of history.slice(0, i + 1)) {
            assert.deepEqual(matches(fast, labels), matches(naive, labels))
          }
        })
      }),
      { numRuns: 300 },
    )
  })

  it('agrees while tables grow, with long chains and many branches', (t) => {
    const seed = 20_240_607
    t.diagnostic(`seed ${seed}`)
    const random = seededRandom(seed)
    const fast = new ApproximateIndex()
    const naive = new NaiveIndex()
    for (const index of [fast, naive]) index.add(0, 900, 600)
    const prompts: number[][] = [[0]]
    for (let step = 0; step < 150; step++) {
      const base = prompts[randomInt(random, prompts.length)]!
      const kept = base.slice(0, 1 + randomInt(random, base.length))
      const fresh = Array.from({ length: randomInt(random, 80) }, () => randomInt(random, 1e9))
      const prompt = [...kept, ...fresh]
      prompts.push(prompt)
      const chain = labelChain(prompt)
      const drawn = random.next()
      for (const index of [fast, naive]) {
        index.insert(0, chain)
        if (drawn < 0.7) index.confirm(0, chain)
        else if (drawn < 0.9) index.withdraw(0, chain)
        else index.truncate(0, chain, kept.length)
      }
      assert.deepEqual(fast.size(0), naive.size(0))
      for (const one of prompts.slice(-20)) {
        assert.deepEqual(matches(fast, one), matches(naive, one))
      }
    }
    assert.deepEqual(fast.size(0), { gpuBlocks: 900, hostBlocks: 600 }, 'the history filled it')
  })
})

describe('approximate index in memory', () => {
  it('F061: memory stays flat while unique chains come and go, and what is allocated is held', () => {
    const index = new ApproximateIndex()
    index.add(0, 2_000, 500)
    let bytesWhenFull = 0
    for (let i = 0; i < 20_000; i++) {
      const chain = labelChain(['shared', i, 'tail'])
      index.insert(0, chain)
      if (i % 3 === 0) index.withdraw(0, chain)
      else index.confirm(0, chain)
      const { gpuBlocks, hostBlocks } = index.size(0)
      assert.equal(index.allocatedBlocks, gpuBlocks + hostBlocks)
      if (i === 5_000) bytesWhenFull = index.bytes
    }
    assert.deepEqual(index.size(0), { gpuBlocks: 2_000, hostBlocks: 500 })
    assert.equal(index.bytes, bytesWhenFull)
    index.remove(0)
    assert.equal(index.allocatedBlocks, 0)
    assert.equal(index.bytes, 0)
  })

  it('needs at most 64 bytes per block and holder, however full', () => {
    const index = new ApproximateIndex()
    index.add(0, 50_000, 0)
    for (let i = 0; i < 3_000; i++) {
      const chain = labelChain(['shared', i, 1, 2, 3, 4, 5, 6, 7, 8])
      index.insert(0, chain)
      if (i >= 10) {
        const perBlock = index.bytes / index.size(0).gpuBlocks
        assert.ok(perBlock <= 64, `${perBlock} bytes a block with ${index.size(0).gpuBlocks}`)
      }
    }
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TokenGaps } from './token-gaps.ts'

test('quantiles are those of every token by itself', () => {
  const gap = fc.record({
    ms: fc.float({ min: 0, max: 60_000, noNaN: true }).map(Math.abs),
    tokens: fc.integer({ min: 1, max: 64 }),
  })
  fc.assert(
    fc.property(fc.array(gap, { minLength: 1, maxLength: 50 }), (entries) => {
      const gaps = new TokenGaps()
      for (const { ms, tokens } of entries) gaps.add(ms, tokens)
      const each = entries.flatMap(({ ms, tokens }) => new Array<number>(tokens).fill(ms))
      each.sort((a, b) => a - b)
      const shares = [0.01, 0.5, 0.99, 1]
      const expected = shares.map((share) => each[Math.ceil(share * each.length) - 1])
      assert.deepEqual(gaps.quantiles(shares), expected)
    }),
  )
})

test('without tokens there is no quantile', () => {
  assert.deepEqual(new TokenGaps().quantiles([0.5]), [Number.NaN])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ArmComparison } from './compare.ts'
import { headline } from './headline.ts'

const arm = (name: string, tokens: number, ttft: number, of: number | null): ArmComparison => {
  const ratio = (value: number) => ({ value, low: value - 0.1, high: value + 0.1 })
  const ratios = of === null ? null : [ratio(tokens / of), ratio(1), ratio(1), ratio(1), ratio(1)]
  return { name, values: [tokens, ttft, 0, 0, 0], ratios, differences: ratios }
}

test('the sentence names the best arm, its gain and what is behind it', () => {
  assert.equal(
    headline(
      [arm('a', 100, 60_000, null), arm('b', 120, 30_000, 100), arm('c', 250, 900, 100)],
      '8xX',
    ),
    'On this traffic c serves 2.50 times the tokens of a on 8xX (95 % interval 2.40 to 2.60), ' +
      'and half of the requests wait 0.90 s or less for their first token, instead of 60.0 s.',
  )
})

test('where chance would do as much, the sentence says so', () => {
  assert.equal(
    headline([arm('a', 100, 100, null), arm('b', 104, 100, 100)], '8xX'),
    'On this traffic no other policy serves more on 8xX than a, beyond chance: b comes to ' +
      '+4.0 % (95 % interval −6.0 % to +14.0 %).',
  )
  assert.equal(headline([arm('a', 100, 100, null)], '8xX'), '')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { answerTokens, extensionShare, loadOf, planExperiments } from './experiment-plan.ts'

const unknownOr = (min: number, max: number) => fc.option(fc.integer({ min, max }))

test('no plan goes beyond the context, half of the memory, or what the operator allows', () => {
  fc.assert(
    fc.property(
      unknownOr(1_024, 1_000_000),
      unknownOr(2_048, 4_000_000),
      unknownOr(1, 256),
      fc.integer({ min: 1, max: 64 }),
      fc.integer({ min: 512, max: 200_000 }),
      (contextTokensMax, kvTokens, runningMax, atOnceMax, promptTokensMax) => {
        const limits = { contextTokensMax, kvTokens, runningMax, atOnceMax, promptTokensMax }
        const experiments = planExperiments(limits)
        for (const one of experiments) {
          assert.ok(one.promptTokens <= promptTokensMax)
          if (contextTokensMax !== null) {
            const whole = one.promptTokens * (1 + extensionShare) + answerTokens.decode
            assert.ok(whole <= contextTokensMax)
          }
          if (one.kind !== 'decode') continue
          assert.ok(one.sequences <= Math.min(atOnceMax, runningMax ?? atOnceMax))
          const distinct = one.shared ? 1 : one.sequences
          const small = one.promptTokens <= 256
          if (kvTokens !== null && !small) assert.ok(distinct * one.promptTokens <= kvTokens / 2)
        }
        assert.ok(loadOf(experiments).atOnce <= Math.max(2, atOnceMax))
      },
    ),
  )
})

test('an engine too small to be measured is refused in words', () => {
  const limits = { kvTokens: null, runningMax: null, atOnceMax: 8, promptTokensMax: 8_192 }
  assert.throws(() => planExperiments({ ...limits, contextTokensMax: 300 }), /at least 256 are/)
})

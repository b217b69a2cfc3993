import type { TestContext } from 'node:test'

/** A new seed for each run, in the test's output also when it passes. */
export function printedSeed(t: TestContext): number {
  const seed = Math.floor(Math.random() * 2 ** 31)
  t.diagnostic(`seed ${seed}`)
  return seed
}

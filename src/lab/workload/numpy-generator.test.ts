import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NumpyGenerator } from './numpy-generator.ts'

/** What numpy 2.4 gives: sums over 20,000 normals, and one more behind 3,001 integers. */
const known: readonly (readonly [number, number, number, number])[] = [
  [0, 93.62876885667035, 59123.6018216265, -1.1044551557156492],
  [42, 101.01870059955837, 61066.675804424114, 0.19186192099534252],
  [4294967295, 123.95998313782134, 59784.238352379994, -0.3201775624037412],
]

test('the same normals as numpy, the tails and the unsure ones among them', () => {
  for (const [seed, sum, fourthPowers, later] of known) {
    const numbers = new NumpyGenerator(seed)
    const normals = Array.from({ length: 20_000 }, () => numbers.normal())
    assert.ok(Math.abs(normals.reduce((a, b) => a + b, 0) - sum) < 1e-6)
    assert.ok(Math.abs(normals.reduce((a, b) => a + b ** 4, 0) - fourthPowers) < 1e-4)
    assert.ok(normals.some((value) => Math.abs(value) > 3.66))
    numbers.skipIntegers(3_001, 151_643)
    assert.ok(Math.abs(numbers.normal() - later) < 1e-9)
  }
})

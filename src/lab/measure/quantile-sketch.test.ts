import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printedSeed } from '../../../test/support/printed-seed.ts'
import { randomInt, randomNormal, seededRandom } from '../../base/random.ts'
import { QuantileSketch, sketchError } from './quantile-sketch.ts'
import { quantileOf } from './spread.ts'

const shares = [0, 0.01, 0.5, 0.9, 0.99, 0.999, 1]

function samplesOf(count: number, seed: number): number[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => Math.exp(4 + 2 * randomNormal(random)))
}

function sketchOf(samples: readonly number[]): QuantileSketch {
  const sketch = new QuantileSketch()
  for (const sample of samples) sketch.add(sample)
  return sketch
}

test('quantiles of few samples are those of the samples', (t) => {
  const samples = samplesOf(5_000, printedSeed(t))
  const sketch = sketchOf(samples)
  const sorted = samples.toSorted((a, b) => a - b)
  for (const p of shares) assert.equal(sketch.quantile(p), quantileOf(sorted, p))
})

test('quantiles of many samples are within the stated error', (t) => {
  const samples = samplesOf(50_000, printedSeed(t))
  const sketch = sketchOf(samples)
  const sorted = samples.toSorted((a, b) => a - b)
  for (const p of shares) {
    const exact = sorted[Math.floor(p * (sorted.length - 1))]!
    const off = Math.abs(sketch.quantile(p) / exact - 1)
    assert.ok(off <= sketchError + 1e-9, `${p}: off by ${off}`)
  }
  assert.equal(sketch.count, samples.length)
  assert.equal(sketch.spread().max, sorted.at(-1))
})

test('sketches that are added to each other are the sketch of all samples', (t) => {
  const seed = printedSeed(t)
  const random = seededRandom(seed)
  const parts = Array.from({ length: 6 }, (_, i) => samplesOf(randomInt(random, 9_000), seed + i))
  const merged = new QuantileSketch()
  for (const part of parts) merged.merge(sketchOf(part))
  merged.merge(sketchOf(parts[0]!), 2)
  const all = sketchOf([...parts.flat(), ...parts[0]!, ...parts[0]!])
  for (const p of shares) assert.equal(merged.quantile(p), all.quantile(p))
  assert.equal(merged.count, all.count)
})

test('nothing, zeros, and values beyond both ends', () => {
  assert.deepEqual(new QuantileSketch().spread(), {
    count: 0,
    mean: null,
    p50: null,
    p90: null,
    p99: null,
    max: null,
  })
  const sketch = new QuantileSketch()
  sketch.add(0, 30_000)
  sketch.add(1e15)
  assert.equal(sketch.quantile(0.5), 0)
  assert.equal(sketch.quantile(1), 1e15)
})

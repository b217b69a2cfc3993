import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Random, randomNormal, seededRandom } from '../../base/random.ts'
import type { PrefillObservation } from './observations.ts'
import { RateEstimator } from './rate-estimator.ts'
import type { Rates } from './rates.ts'

/** An engine that serves one prompt after the other, written from the step model. */
interface Engine {
  readonly overheadMs: number
  readonly tokenMs: number
  readonly pairMs: number
  readonly reloadMs: number
  readonly stepMs: number
  readonly sequenceMs: number
  readonly contextMs: number
}

interface Scene {
  readonly aheadTokens: number
  readonly uncachedTokens: number
  readonly cachedTokens: number
  readonly hostTokens: number
  readonly decodingSequences: number
  readonly decodingContextTokens: number
}

function ttftMs(engine: Engine, scene: Scene): number {
  let ms = engine.overheadMs + scene.hostTokens * engine.reloadMs
  const decodeMs =
    engine.stepMs +
    engine.sequenceMs * (scene.decodingSequences + 1) +
    engine.contextMs * scene.decodingContextTokens
  let depth = scene.cachedTokens
  let left = scene.aheadTokens + scene.uncachedTokens
  while (left > 0) {
    const chunk = Math.min(8_192 - scene.decodingSequences, left)
    ms += decodeMs + chunk * (engine.tokenMs + engine.pairMs * (depth + chunk / 2))
    depth += chunk
    left -= chunk
  }
  return ms
}

function itlMs(engine: Engine, sequences: number, contextTokens: number): number {
  return engine.stepMs + engine.sequenceMs * sequences + engine.contextMs * contextTokens
}

function prefill(atMs: number, serviceMs: number, scene: Scene): PrefillObservation {
  return { ...scene, atMs, serviceMs, waitedMs: 0, crowded: false, batchTokensMax: null }
}

function engineOf(rates: Rates): Engine {
  return {
    overheadMs: rates.overheadMs,
    tokenMs: rates.prefillMsPerToken,
    pairMs: rates.pairMs,
    reloadMs: rates.hostReloadMsPerToken,
    stepMs: rates.stepMs,
    sequenceMs: rates.stepMsPerSequence,
    contextMs: rates.stepMsPerContextToken,
  }
}

function scaled(engine: Engine, factor: number): Engine {
  const entries = Object.entries(engine).map(([name, value]) => [name, value * factor])
  return Object.fromEntries(entries) as unknown as Engine
}

const h100: Engine = {
  overheadMs: 80,
  tokenMs: 0.048,
  pairMs: 2.1e-6,
  reloadMs: 0.0033,
  stepMs: 13.5,
  sequenceMs: 0.014,
  contextMs: 6.9e-5,
}

const cpu: Engine = {
  overheadMs: 20,
  tokenMs: 0.1,
  pairMs: 1e-6,
  reloadMs: 0.01,
  stepMs: 8,
  sequenceMs: 0.5,
  contextMs: 1e-4,
}

function agentScene(random: Random): Scene {
  const decodingSequences = Math.floor(random.next() * 20)
  const hostTokens = random.next() < 0.8 ? 0 : Math.floor(random.next() * 20_000)
  return {
    aheadTokens: random.next() < 0.6 ? 0 : Math.floor(random.next() * 10_000),
    uncachedTokens: Math.floor(50 + random.next() ** 4 * 20_000),
    cachedTokens: hostTokens + Math.floor(random.next() ** 2 * 60_000),
    hostTokens,
    decodingSequences,
    decodingContextTokens: decodingSequences * 5_000,
  }
}

/** Lets an engine and its estimator live through requests, one a second. */
class Life {
  readonly random: Random
  readonly noise: number
  readonly estimator: RateEstimator
  atMs = 0

  constructor(seed: number, noise: number, estimator = new RateEstimator()) {
    this.random = seededRandom(seed)
    this.noise = noise
    this.estimator = estimator
  }

  /** @returns |log(predicted / actual)| of each time to first token, as predicted beforehand */
  live(engine: Engine, requests: number, scene = agentScene): number[] {
    const errors: number[] = []
    for (let i = 0; i < requests; i++) {
      this.atMs += 1_000
      const seen = scene(this.random)
      const predictedTtftMs = ttftMs(engineOf(this.estimator.rates()), seen)
      const actualMs = ttftMs(engine, seen) * this.#jitter()
      errors.push(Math.abs(Math.log(predictedTtftMs / actualMs)))
      const { atMs } = this
      this.estimator.error.observe(predictedTtftMs, actualMs)
      this.estimator.prefillObserved(prefill(atMs, actualMs, seen))
      const sequences = seen.decodingSequences + 1
      const contextTokens = seen.decodingContextTokens + seen.cachedTokens
      const msPerToken = itlMs(engine, sequences, contextTokens) * this.#jitter()
      this.decoded(500, msPerToken, sequences, contextTokens)
    }
    return errors
  }

  decoded(afterMs: number, msPerToken: number, sequences: number, contextTokens: number): void {
    this.estimator.decodeObserved({
      atMs: this.atMs + afterMs,
      msPerToken,
      sequences,
      contextTokens,
      prefillTokensPerToken: 0,
      prefillPairsPerToken: 0,
    })
  }

  #jitter(): number {
    return Math.exp(this.noise * randomNormal(this.random))
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

const seeds = [1, 2, 3]

describe('convergence', () => {
  const engines: [string, Engine][] = [
    ['of the prior', h100],
    ['on a CPU', cpu],
    ['ten times as fast', scaled(h100, 0.1)],
    ['a hundred times as fast', scaled(h100, 0.01)],
    // The way to it does not get longer with a slower engine.
    ['fifty times as slow', { ...scaled(h100, 50), overheadMs: 80 }],
  ]
  for (const [name, engine] of engines) {
    test(`an engine ${name} is predicted within a handful of requests`, () => {
      for (const seed of seeds) {
        const life = new Life(seed, 0.05)
        life.live(engine, 8)
        const early = median(life.live(engine, 12))
        assert.ok(early < 0.25, `seed ${seed}: ${early}`)
        life.live(engine, 60)
        assert.ok(median(life.live(engine, 40)) < 0.1, `seed ${seed}`)
      }
    })
  }

  test('coefficients that matter come out right, not only their sum', () => {
    for (const seed of seeds) {
      const life = new Life(seed, 0.1)
      life.live(scaled(h100, 0.1), 200)
      const rates = life.estimator.rates()
      for (const [measured, real] of [
        [rates.prefillMsPerToken, 0.0048],
        [rates.stepMs, 1.35],
        [rates.stepMsPerContextToken, 6.9e-6],
      ] as const) {
        assert.ok(Math.abs(Math.log(measured / real)) < 0.3, `seed ${seed}: ${measured}, ${real}`)
      }
    }
  })

  test('prompts that are all alike predict prompts like them, and nothing runs away', () => {
    const alike = (): Scene => ({
      aheadTokens: 0,
      uncachedTokens: 1_000,
      cachedTokens: 3_000,
      hostTokens: 0,
      decodingSequences: 4,
      decodingContextTokens: 16_000,
    })
    for (const seed of seeds) {
      const life = new Life(seed, 0.1)
      life.live(cpu, 3_000, alike)
      assert.ok(median(life.live(cpu, 50, alike)) < 0.15, `seed ${seed}`)
      const longer = { ...alike(), uncachedTokens: 4_000 }
      const predicted = ttftMs(engineOf(life.estimator.rates()), longer)
      const ratio = predicted / ttftMs(cpu, longer)
      assert.ok(ratio > 1 / 3 && ratio < 3, `seed ${seed}: ${ratio}`)
    }
  })
})

describe('change', () => {
  test('a replica that slows down four times is believed within a minute, and back', () => {
    for (const seed of seeds) {
      for (const noise of [0.02, 0.3]) {
        const life = new Life(seed, noise)
        life.live(h100, 300)
        life.live(scaled(h100, 4), 30)
        const slow = median(life.live(scaled(h100, 4), 30))
        assert.ok(slow < 0.35, `seed ${seed}, noise ${noise}: ${slow}`)
        assert.ok(life.estimator.beliefsDropped >= 1)
        life.live(h100, 30)
        const back = median(life.live(h100, 30))
        assert.ok(back < 0.35, `seed ${seed}, noise ${noise}: ${back}`)
      }
    }
  })

  test('a few requests a minute are enough to notice', () => {
    const life = new Life(1, 0.1)
    life.live(h100, 200)
    const before = life.estimator.rates().prefillMsPerToken
    for (let i = 0; i < 8; i++) {
      life.atMs += 6_500
      life.live(scaled(h100, 4), 1)
    }
    assert.ok(life.estimator.rates().prefillMsPerToken > 2.5 * before)
  })

  test('decodes alone tell that the prefill is slower too', () => {
    const life = new Life(1, 0.05)
    life.live(h100, 200)
    const before = life.estimator.rates()
    for (let i = 0; i < 40; i++) {
      const msPerToken = 4 * itlMs(h100, 5, 50_000)
      life.decoded(i * 1_000, msPerToken, 5, 50_000)
    }
    const after = life.estimator.rates()
    assert.ok(after.stepMs / before.stepMs > 2)
    assert.ok(after.prefillMsPerToken / before.prefillMsPerToken > 1.5)
  })
})

describe('robustness', () => {
  test('a stall that hits thirty requests at once is not believed', () => {
    for (const seed of seeds) {
      const life = new Life(seed, 0.1)
      life.live(h100, 200)
      const before = life.estimator.rates()
      for (let i = 0; i < 30; i++) {
        const seen = agentScene(life.random)
        const stalledMs = 20_000 + ttftMs(h100, seen)
        life.estimator.prefillObserved(prefill(life.atMs + i, stalledMs, seen))
      }
      const after = life.estimator.rates()
      const drift = after.prefillMsPerToken / before.prefillMsPerToken
      assert.ok(drift < 2.5, `seed ${seed}: ${drift}`)
      life.live(h100, 20)
      assert.ok(median(life.live(h100, 20)) < 0.25, `seed ${seed}`)
    }
  })

  test('one outlier, a thousand times too long or too short, moves predictions by little', () => {
    for (const factor of [1_000, 1e-3]) {
      const life = new Life(1, 0.1)
      life.live(h100, 200)
      const scenes = Array.from({ length: 50 }, () => agentScene(life.random))
      const before = engineOf(life.estimator.rates())
      const seen = agentScene(life.random)
      life.estimator.prefillObserved(prefill(life.atMs, factor * ttftMs(h100, seen), seen))
      const after = engineOf(life.estimator.rates())
      for (const scene of scenes) {
        const moved = Math.abs(Math.log(ttftMs(after, scene) / ttftMs(before, scene)))
        assert.ok(moved < 0.1, `${factor}: ${moved}`)
      }
    }
  })

  test('load of others makes tiny prompts wait: overhead grows, not the price of a token', () => {
    const life = new Life(1, 0.1)
    life.live(h100, 200)
    const before = life.estimator.rates()
    for (let i = 0; i < 60; i++) {
      const seen: Scene = {
        aheadTokens: 0,
        uncachedTokens: 20,
        cachedTokens: 1_000,
        hostTokens: 0,
        decodingSequences: 0,
        decodingContextTokens: 0,
      }
      life.estimator.prefillObserved(prefill(life.atMs + i * 1_000, 3_000, seen))
    }
    const after = life.estimator.rates()
    assert.ok(after.overheadMs > 5 * before.overheadMs)
    const dearer = after.prefillMsPerToken / before.prefillMsPerToken
    assert.ok(dearer < 3, `${dearer}`)
  })

  test('a request that may have waited for room teaches little', () => {
    const life = new Life(1, 0.1)
    life.live(h100, 100)
    const before = life.estimator.rates().prefillMsPerToken
    for (let i = 0; i < 20; i++) {
      const seen = agentScene(life.random)
      const waited = prefill(life.atMs + i * 1_000, 30_000 + ttftMs(h100, seen), seen)
      life.estimator.prefillObserved({ ...waited, crowded: true })
    }
    assert.ok(life.estimator.rates().prefillMsPerToken / before < 2)
  })

  test('nonsense is not learned, and reading changes nothing', () => {
    const estimator = new RateEstimator()
    const before = estimator.rates()
    const seen = agentScene(seededRandom(1))
    for (const ms of [0, -5, Number.NaN, Number.POSITIVE_INFINITY]) {
      estimator.prefillObserved(prefill(0, ms, seen))
    }
    estimator.prefillObserved(prefill(0, 5, { ...seen, cachedTokens: Number.NaN }))
    assert.equal(estimator.rates(), before)
    assert.equal(estimator.samples, 0)
  })

  test('whatever is observed, every rate stays finite and positive', () => {
    const life = new Life(99, 0)
    const anything = (): number => Math.exp(40 * (life.random.next() - 0.5))
    for (let i = 0; i < 5_000; i++) {
      life.atMs += 100
      life.estimator.prefillObserved(prefill(life.atMs, anything(), agentScene(life.random)))
      life.decoded(0, anything(), 3, life.random.next() * 1e7)
    }
    for (const rate of Object.values(life.estimator.rates())) {
      assert.ok(Number.isFinite(rate) && rate > 0, `${rate} (seed 99)`)
    }
  })
})

describe('kinds of observation', () => {
  test('prefill of others between tokens is not mistaken for slow steps', () => {
    const life = new Life(1, 0.05)
    life.live(h100, 100)
    const before = life.estimator.rates().stepMs
    // A prompt of 8,000 tokens came between every twenty tokens: 480 tokens a token.
    const pairs = 400 * 4_000
    for (let i = 0; i < 100; i++) {
      const stalledMs = itlMs(h100, 5, 50_000) + 400 * 0.048 + pairs * 2.1e-6
      life.estimator.decodeObserved({
        atMs: life.atMs + i * 1_000,
        msPerToken: stalledMs,
        sequences: 5,
        contextTokens: 50_000,
        prefillTokensPerToken: 400,
        prefillPairsPerToken: pairs,
      })
    }
    const after = life.estimator.rates().stepMs
    assert.ok(Math.abs(Math.log(after / before)) < 0.1, `${before} ${after}`)
  })

  test('a request that waited for others had its overhead meanwhile', () => {
    const life = new Life(1, 0.02)
    life.live(h100, 50)
    const before = life.estimator.rates()
    for (let i = 0; i < 100; i++) {
      const seen = agentScene(life.random)
      const serviceMs = ttftMs({ ...h100, overheadMs: 0 }, seen)
      const atMs = life.atMs + i * 1_000
      life.estimator.prefillObserved({ ...prefill(atMs, serviceMs, seen), waitedMs: 5_000 })
    }
    const { overheadMs } = life.estimator.rates()
    assert.ok(Math.abs(Math.log(overheadMs / before.overheadMs)) < 0.1)
  })

  test('answers that are not streamed teach by their whole', () => {
    for (const engine of [h100, scaled(h100, 0.1)]) {
      const life = new Life(1, 0)
      const whole = (scene: Scene, outputTokens: number): number => {
        const contextTokens =
          scene.decodingContextTokens + scene.cachedTokens + scene.uncachedTokens + outputTokens / 2
        const stepMs = itlMs(engine, scene.decodingSequences + 1, contextTokens)
        return ttftMs(engine, scene) + outputTokens * stepMs
      }
      for (let i = 0; i < 200; i++) {
        const seen = agentScene(life.random)
        const outputTokens = 1 + Math.floor(life.random.next() ** 2 * 500)
        life.estimator.wholeObserved({
          ...seen,
          atMs: i * 1_000,
          wholeMs: whole(seen, outputTokens),
          outputTokens,
          crowded: false,
          batchTokensMax: null,
        })
      }
      const { stepMs, prefillMsPerToken } = life.estimator.rates()
      assert.ok(Math.abs(Math.log(stepMs / engine.stepMs)) < 0.3, `${stepMs}`)
      assert.ok(Math.abs(Math.log(prefillMsPerToken / engine.tokenMs)) < 0.4)
    }
  })
})

test('F135: a shift shows in the error, the old belief is dropped, the error falls again', () => {
  const life = new Life(4, 0.1)
  life.live(h100, 100)
  const { error } = life.estimator
  assert.ok(error.trusted && error.relative < 0.2)
  let errorMost = 0
  for (let i = 0; i < 10; i++) {
    life.live(scaled(h100, 20), 1)
    errorMost = Math.max(errorMost, error.relative)
  }
  assert.ok(errorMost > 0.3, `${errorMost}`)
  assert.ok(life.estimator.beliefsDropped >= 1)
  life.live(scaled(h100, 20), 30)
  assert.ok(error.trusted && error.relative < 0.2)
})

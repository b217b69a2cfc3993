import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random.ts'
import { CacheTrust } from './cache-trust.ts'

const outcome = (matchedTokens: number, reportedTokens: number, heldShare = 1) => ({
  matchedTokens,
  reportedTokens,
  heldShare,
})

test('a belief that holds is not touched', () => {
  const trust = new CacheTrust()
  for (let i = 0; i < 100; i++) trust.compared(outcome(10_000, 10_000))
  assert.deepEqual([trust.share, trust.capacityFactor, trust.outcomes], [1, 1, 100])
})

test('F135: the share settles at what the engine reports, not above', () => {
  const trust = new CacheTrust()
  for (let i = 0; i < 100; i++) trust.compared(outcome(10_000, 3_000, 0.1))
  assert.ok(Math.abs(trust.share - 0.3) < 0.01, `${trust.share}`)
})

test('small prompts say nothing', () => {
  const trust = new CacheTrust()
  for (let i = 0; i < 100; i++) trust.compared(outcome(500, 0))
  assert.deepEqual([trust.share, trust.capacityFactor, trust.outcomes], [1, 1, 0])
})

test('three empty outcomes in a row: the cache was emptied; a found token starts the count again', () => {
  const trust = new CacheTrust()
  const findings = [0, 0, 4_000, 0, 0, 0].map((reported) =>
    trust.compared(outcome(10_000, reported)),
  )
  assert.deepEqual(findings.indexOf('cache emptied'), 5)
  assert.ok(trust.capacityFactor > 0.5, 'one emptied cache says little about its size')
})

/**
 * An LRU cache of `room` prompts out of `prompts` drawn evenly, beside an index that believes in
 * `capacityFactor` of `nominal` of them.
 */
function play(room: number, nominal: number, prompts: number, trust: CacheTrust, draws: number) {
  const random = seededRandom(7)
  const engine: number[] = []
  const index: number[] = []
  const use = (list: number[], prompt: number, most: number): boolean => {
    const at = list.indexOf(prompt)
    if (at >= 0) list.splice(at, 1)
    list.push(prompt)
    list.splice(0, Math.max(0, list.length - Math.max(1, Math.round(most))))
    return at >= 0
  }
  for (let i = 0; i < draws; i++) {
    const prompt = Math.floor(random.next() * prompts)
    const matched = use(index, prompt, nominal * trust.capacityFactor)
    const found = use(engine, prompt, room)
    trust.compared(outcome(matched ? 8_000 : 0, found ? 8_000 : 0, index.length / nominal))
  }
}

test('the believed capacity finds an engine that has a third of what it says', () => {
  const trust = new CacheTrust()
  play(20, 60, 80, trust, 1_500)
  assert.ok(trust.capacityFactor > 0.2 && trust.capacityFactor < 0.5, `${trust.capacityFactor}`)
})

test('the believed capacity stays where an overloaded engine says the truth', () => {
  const trust = new CacheTrust()
  play(60, 60, 200, trust, 1_500)
  assert.ok(trust.capacityFactor > 0.95, `${trust.capacityFactor}`)
})

test('finds that were not expected bring a capacity back that was believed too small', () => {
  const trust = new CacheTrust()
  trust.capacityFactor = 0.2
  play(60, 60, 200, trust, 3_000)
  assert.ok(trust.capacityFactor > 0.9, `${trust.capacityFactor}`)
})

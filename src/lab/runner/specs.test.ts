/** Fleets, arms, workloads and information as texts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { profileNamed } from '../engine/profiles.ts'
import { parseWorkload, workloadOf } from '../workload/workloads.ts'
import { armsOf } from './arm-spec.ts'
import { fleetOf } from './fleet-spec.ts'
import { informationOf } from './information-spec.ts'

test('a fleet: counts, several profiles of one model, and changed numbers', () => {
  const fleet = fleetOf(
    '2xqwen3-32b-2xh100:kvTokens=4000:ingressMs=0.5,1xqwen3-32b-tpu-v6e',
    profileNamed,
  )
  assert.deepEqual(
    fleet.map(({ endpoint, profile }) => [endpoint, profile.name, profile.kvTokens]),
    [
      ['http://engine-0', 'qwen3-32b-2xh100', 4_000],
      ['http://engine-1', 'qwen3-32b-2xh100', 4_000],
      ['http://engine-2', 'qwen3-32b-tpu-v6e', 307_328],
    ],
  )
  assert.equal(fleet[0]!.profile.ingressMs, 0.5)
  const bad = (text: string, why: RegExp) =>
    assert.throws(() => fleetOf(text, profileNamed), { name: 'RangeError', message: why })
  bad('qwen3-32b-2xh100', /^a fleet is such as .*, not "qwen3-32b-2xh100"$/)
  bad('2xnone', /^no profile "none"; there are /)
  bad(
    '2xqwen3-32b-2xh100:kvToken=1',
    /^qwen3-32b-2xh100 has no option "kvToken"; did you mean kvTokens\?$/,
  )
  bad('2xqwen3-32b-2xh100:kvTokens=many', /kvTokens takes a number such as 307328, not "many"$/)
  bad('1xqwen3-32b-2xh100,1xllama-3.1-8b-h100', /^all endpoints serve one model, not /)
  bad('0xqwen3-32b-2xh100', /^a fleet has 1 to 1024 endpoints, not 0$/)
  bad('9999999999xqwen3-32b-2xh100', /^a fleet has 1 to 1024 endpoints, not 1025$/)
})

test('arms: defaults, a variant, all of them', () => {
  assert.deepEqual(
    armsOf('round-robin,warmpath:no admission,warmpath:all').map(({ title }) => title),
    ['round-robin', 'warmpath:no admission', 'warmpath', 'warmpath:no admission'],
  )
  assert.throws(
    () => armsOf('round-robbin'),
    /no policy "round-robbin"; did you mean round-robin\?/,
  )
  assert.throws(() => armsOf('random:x'), /random has no variant "x"; there are "defaults"/)
})

test('a workload: a name, and options of their types', () => {
  const { options } = parseWorkload('code-generation,sessions=3,turns=2')
  assert.deepEqual([options.sessions, options.turns, options.sharedTokens], [3, 2, 3_000])
  assert.equal(workloadOf('code-generation,sessions=3,turns=2', 1).sessions.length, 3)
  const rate = workloadOf('shared-prefix,perSecond=2,seconds=10', 1).sessions.length
  assert.ok(rate > 8 && rate < 40, `${rate}`)
  assert.throws(() => parseWorkload('code'), /no workload "code"; there are code-generation, /)
  assert.throws(() => parseWorkload('unshared,perSecond'), /perSecond takes a number such as 10/)
})

test('information: two words, or events with a delay and a loss', () => {
  assert.equal(informationOf('perfect'), 'perfect')
  assert.deepEqual(informationOf('events:100ms:1%'), { delayMs: 100, lossShare: 0.01 })
  assert.deepEqual(informationOf('events:2s:0%'), { delayMs: 2_000, lossShare: 0 })
  for (const text of ['events', 'events:100:1%', 'events:1s:101%', 'good']) {
    assert.throws(() => informationOf(text), new RegExp(`not "${text}"$`))
  }
})

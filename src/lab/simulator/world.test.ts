import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admissions } from '../../core/admission/registry.ts'
import { type PolicyName, policies } from '../../core/policy/registry.ts'
import { profileNamed } from '../engine/profiles.ts'
import { codeGeneration, codeGenerationDefaults } from '../workload/code-generation.ts'
import { compactWorkload } from '../workload/compact-sessions.ts'
import type { Workload } from '../workload/session.ts'
import { sharedPrefix, sharedPrefixDefaults } from '../workload/shared-prefix.ts'
import type { SimulatedRequest } from './request-record.ts'
import { simulate } from './simulate.ts'
import { replicas } from './simulated-fleet.ts'

const profile = { ...profileNamed('qwen3-32b-2xh100'), contextTokensMax: 131_072 }

function run(workload: Workload, policy: PolicyName, count = 4) {
  const decisions: string[] = []
  const result = simulate({
    workload,
    policy: policies[policy],
    members: replicas(profile, count),
    seed: 1,
    onDecision: (decision, atMs) => decisions.push(JSON.stringify([atMs, decision])),
  })
  return { ...result, decisions }
}

const hitShare = (requests: readonly SimulatedRequest[]): number =>
  requests.reduce((sum, one) => sum + one.cachedTokens, 0) /
  requests.reduce((sum, one) => sum + one.promptTokens, 0)

const small = {
  ...codeGenerationDefaults,
  sessions: 6,
  turns: 5,
  ownTokensMean: 20_000,
  ownTokensStdDev: 10_000,
}

test('one seed reproduces a run to the byte', () => {
  const first = run(codeGeneration(small, 7), 'warmpath')
  const second = run(codeGeneration(small, 7), 'warmpath')
  assert.deepEqual(second.decisions, first.decisions)
  assert.deepEqual(second.requests, first.requests)
  assert.notDeepEqual(run(codeGeneration(small, 8), 'warmpath').requests, first.requests)
})

test('every request ends, in the order of its session, and the router is left empty', () => {
  const { requests, engines } = run(codeGeneration(small, 1), 'least-request')
  assert.equal(requests.length, small.sessions * small.turns)
  assert.ok(requests.every(({ finishedMs, outcome }) => finishedMs !== null && outcome === 'done'))
  for (const { model } of engines) {
    assert.deepEqual([model.running, model.waiting], [0, 0])
  }
})

test('shared prefixes: knowing what is cached serves more from cache than turns do', () => {
  const options = { ...sharedPrefixDefaults, stages: [{ perSecond: 4, seconds: 60 }] }
  const ours = run(sharedPrefix(options, 3), 'warmpath').requests
  const turns = run(sharedPrefix(options, 3), 'round-robin').requests
  assert.equal(ours.length, turns.length)
  assert.ok(hitShare(ours) > 1.3 * hitShare(turns), `${hitShare(ours)} against ${hitShare(turns)}`)
})

test('recorded sessions: a prompt shares what the record says, and no more', () => {
  const recorded = [
    {
      id: 'a',
      pre: 1_000,
      r: [
        [6_400, 64, 0, 1, 0, 0],
        [12_800, 64, 5, 1, 1, 100],
        [3_200, 64, 5, 1, 2, 25],
      ] as const,
    },
  ]
  const workload = compactWorkload(recorded, { gapMsMax: 1_000 }, 1)
  assert.deepEqual(
    workload.sessions[0]!.turns.map(({ gapMs }) => gapMs),
    [0, 1_000, 1_000],
  )
  const { requests } = run(workload, 'warmpath', 1)
  assert.deepEqual(
    requests.map(({ cachedTokens }) => cachedTokens),
    [0, 6_400, 1_600],
  )
})

test('with an admission, sessions that do not fit wait at the router, and all are served', () => {
  const members = replicas({ ...profile, kvTokens: 60_000 }, 2)
  const { requests } = simulate({
    workload: codeGeneration(small, 2),
    policy: policies.warmpath,
    admission: admissions['working-set'],
    members,
    seed: 1,
  })
  assert.ok(requests.every(({ outcome }) => outcome === 'done'))
  assert.ok(requests.some((one) => one.dispatchedMs! > one.readyMs))
})

test('a workload made for one engine’s blocks is served in blocks of that size', () => {
  // Ten blocks of 32 tokens, sent twice: the second prompt has all but its last token's block.
  const chain = { lo: new Uint32Array(10).fill(1), hi: new Uint32Array(10).fill(2), length: 10 }
  for (let i = 0; i < 10; i++) chain.hi[i] = i
  const turn = { gapMs: 0, promptTokens: 320, outputTokens: 4, chain }
  const session = { id: 'a', startMs: 0, tenant: 't', priorityClass: 'standard' }
  const { requests, engines } = run(
    { name: 'blocks', blockTokens: 32, sessions: [{ ...session, turns: [turn, turn] }] },
    'warmpath',
    1,
  )
  assert.equal(engines[0]!.model.profile.blockTokens, 32)
  assert.equal(requests[1]!.cachedTokens, 288)
  assert.equal(requests[1]!.reusableTokens, 288)
})

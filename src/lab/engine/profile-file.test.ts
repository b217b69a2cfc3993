import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderProblems } from '../../config/problem.ts'
import { profileDefaults } from './profile.ts'
import { readProfileFile } from './profile-file.ts'
import { profileNamed } from './profiles.ts'

const least = `
name: mine
model: tiny
t0Ms: { value: 3.25, error: 0.1 }
prefillMsPerToken: 0.04
pairMs: 1.5e-6
contextMsPerToken: 0
logicalContextMsPerToken: 2e-6
kvTokens: 65536
measured:
  at: 2026-12-01
`

const problemsOf = (content: string): string => {
  const read = readProfileFile('p.yaml', content)
  return read.ok ? '' : renderProblems(read.problems)
}

test('a file needs the model and the step time; the rest has defaults', () => {
  const read = readProfileFile('p.yaml', least)
  assert.ok(read.ok)
  const { name, t0Ms, blockTokens, hitsInFlight, pricePerHour } = read.profile
  assert.deepEqual(
    { name, t0Ms, blockTokens, hitsInFlight, pricePerHour },
    {
      name: 'mine',
      t0Ms: 3.25,
      blockTokens: profileDefaults.blockTokens,
      hitsInFlight: true,
      pricePerHour: 0,
    },
  )
})

test('a whole profile comes back from JSON as it was', () => {
  const profile = profileNamed('qwen3-32b-2xh100')
  const read = readProfileFile('p.json', JSON.stringify(profile))
  assert.ok(read.ok)
  assert.deepEqual(read.profile, profile)
})

test('each problem names its place, its key and what would be valid', () => {
  assert.match(problemsOf(least.replace('model: tiny\n', '')), /^p\.yaml:1:1: model is missing$/)
  assert.match(
    problemsOf(least.replace('kvTokens: 65536', 'kvTokens: 6.5')),
    /^p\.yaml:9:1: kvTokens expects a whole number of at least 1 \(tokens\); got 6\.5$/,
  )
  assert.match(
    problemsOf(least.replace('0.04', '-1')),
    /^p\.yaml:5:1: prefillMsPerToken expects a number of at least 0 \(ms per token\), such as/,
  )
  assert.match(problemsOf(`${least}t0ms: 3`), /t0ms is no part of a profile; did you mean t0Ms\?$/)
  assert.match(problemsOf(`${least}colour: red`), /there are name, model, source, t0Ms/)
  assert.match(problemsOf(`${least}hitsInFlight: 1`), /hitsInFlight expects true or false; got 1$/)
  assert.match(problemsOf('- 1'), /expects a profile: a map/)
  assert.match(problemsOf('a: ]'), /^p\.yaml:1:4: /)
})

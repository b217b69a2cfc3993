import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeGenerationReplay, codeGenerationReplayDefaults } from './code-generation-replay.ts'

const plain = { ...codeGenerationReplayDefaults, tokensPerDrawn: 1 }

test('the lengths are those that the published seed gives the load generator', () => {
  const { sessions, senders } = codeGenerationReplay(plain, 47)
  const [first, second] = sessions.filter(({ id }) => id.endsWith('.0'))
  // Turns 1, 8, 1; own context 303,373, 224,046; first turns 3,338 + 240, 2,320 + 562.
  assert.equal(sessions.filter(({ id }) => id.startsWith('conversation-0.')).length, 20)
  assert.equal(sessions.filter(({ id }) => id.startsWith('conversation-1.')).length, 3)
  assert.deepEqual(
    [first!.turns[0]!.promptTokens, first!.turns[0]!.outputTokens],
    [262_144 - 200 - 240, 240],
  )
  assert.deepEqual(
    [second!.turns[0]!.promptTokens, second!.turns[0]!.outputTokens],
    [3_000 + 224_046 + 2_320, 562],
  )
  assert.deepEqual(
    senders!.map(({ turnsAtOnce, turns }) => [turnsAtOnce, turns.length]),
    [...new Array(8).fill([5, 100])],
  )
})

test('every turn is sent by one process, and prompts fit', () => {
  const { sessions, senders } = codeGenerationReplay({ ...plain, conversations: 13 }, 20)
  const sent = senders!.flatMap(({ turns }) => turns.map((one) => `${one.session}/${one.turn}`))
  const all = sessions.flatMap(({ turns }, i) => turns.map((_, turn) => `${i}/${turn}`))
  assert.deepEqual(sent.sort(), all.sort())
  for (const { turns } of sessions) {
    for (const { promptTokens, outputTokens, chain } of turns) {
      assert.ok(promptTokens + outputTokens <= plain.contextTokensMax)
      assert.equal(chain.length, Math.floor((promptTokens + outputTokens) / 64))
    }
  }
})

test('a conversation that begins again has the same first prompt and other answers', () => {
  const { sessions } = codeGenerationReplay(plain, 47)
  const [once, again] = sessions.filter(({ id }) => id.startsWith('conversation-1.'))
  const [a, b] = [once!.turns[0]!, again!.turns[0]!]
  const promptBlocks = Math.floor(a.promptTokens / 64)
  const shared = a.chain.lo.findIndex((lo, i) => lo !== b.chain.lo[i])
  assert.equal(shared, promptBlocks)
})

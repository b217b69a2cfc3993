import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printedSeed } from '../../../test/support/printed-seed.ts'
import { codeGeneration, codeGenerationDefaults } from '../workload/code-generation.ts'
import { compactWorkload } from '../workload/compact-sessions.ts'
import { blockTokens as blockTokensOfLab, type WorkloadSession } from '../workload/session.ts'
import type { BenchTask, Message } from './bench-task.ts'
import { tokenBytes } from './block-text.ts'
import { SingleRequests } from './single-requests.ts'
import { WorkloadTasks } from './workload-tasks.ts'

const labBlockBytes = blockTokensOfLab * tokenBytes

test('prompts as text share what their chains share, and are as long', (t) => {
  const small = { ownTokensMin: 200, ownTokensMax: 900, sessions: 4, turns: 5, sharedTokens: 300 }
  const workload = codeGeneration({ ...codeGenerationDefaults, ...small }, printedSeed(t))
  const { sessions, blockTokens = blockTokensOfLab } = workload
  const blockBytes = blockTokens * tokenBytes
  const tasks = sessions.map(() => null) as unknown as BenchTask[]
  const source = new WorkloadTasks(workload, 0)
  for (const i of sessions.keys()) tasks[i] = source.next()!
  assert.equal(source.next(), null)
  const prompts = sessions.flatMap(({ turns }, i) =>
    turns.map((turn, n) => ({ turn, text: textOf(tasks[i]!.turns[n]!.messages()) })),
  )
  for (const { turn, text } of prompts) {
    assert.equal(text.length, turn.promptTokens * tokenBytes)
    for (const other of prompts) {
      const most = Math.min(turn.promptTokens, other.turn.promptTokens)
      const shared = sharedBlocks(turn.chain, other.turn.chain)
      const whole = Math.min(shared, Math.floor(most / blockTokens)) * blockBytes
      assert.equal(text.slice(0, whole), other.text.slice(0, whole))
      const next = text.slice(whole, whole + blockBytes)
      if (shared * blockTokens + blockTokens <= most) {
        assert.notEqual(next, other.text.slice(whole, whole + blockBytes))
      }
    }
  }
})

test('a turn that goes on sends what was said before, message by message', () => {
  const workload = codeGeneration({ ...codeGenerationDefaults, sessions: 1, turns: 3 }, 1)
  const { turns } = new WorkloadTasks(workload, 0).next()!
  const [first, second, third] = turns.map((turn) => turn.messages())
  assert.deepEqual(rolesOf(first!), ['user'])
  assert.deepEqual(rolesOf(second!), ['user', 'assistant', 'user'])
  assert.deepEqual(rolesOf(third!), ['user', 'assistant', 'user', 'assistant', 'user'])
  assert.deepEqual(second!.slice(0, 1), first)
  assert.deepEqual(third!.slice(0, 3), second)
})

test('a turn that goes back says nothing of what came after the place it goes back to', () => {
  const recorded = [
    {
      id: 'a',
      pre: 0,
      r: [
        [640, 128, 0, 0, 0, 0],
        [960, 64, 1, 0, 1, 10],
        [704, 64, 1, 0, 2, 9],
      ],
    },
  ] as const
  const workload = compactWorkload(recorded, {}, 1)
  const [first, , third] = new WorkloadTasks(workload, 0).next()!.turns
  assert.deepEqual(rolesOf(third!.messages()).at(-1), 'user')
  const shared = 9 * labBlockBytes
  assert.equal(
    textOf(third!.messages()).slice(0, shared),
    textOf(first!.messages()).slice(0, shared),
  )
})

test('another salt makes other texts of the same lengths', () => {
  const workload = codeGeneration({ ...codeGenerationDefaults, sessions: 1, turns: 1 }, 1)
  const [one, other] = [0, 1].map((salt) => {
    const text = textOf(new WorkloadTasks(workload, salt).next()!.turns[0]!.messages())
    return text
  })
  assert.equal(one!.length, other!.length)
  assert.notEqual(one!.slice(0, labBlockBytes), other!.slice(0, labBlockBytes))
})

test('single requests share their system prompts and nothing else', () => {
  const options = { promptTokens: 100, outputTokens: 10, prefixes: 2, prefixTokens: 200 }
  const made = [1, 2].map((seed) => {
    const source = new SingleRequests(options, seed, 0)
    return Array.from({ length: 20 }, () => source.next().turns[0]!.messages())
  })
  const all = made.flat()
  assert.equal(new Set(all.map(([system]) => system!.content)).size, 2)
  assert.equal(new Set(all.map(([, user]) => user!.content.slice(0, 40))).size, 40)
  for (const [system, user] of all) {
    assert.equal(system!.content.length, 200 * tokenBytes)
    assert.equal(user!.content.length, 100 * tokenBytes)
  }
})

function textOf(messages: readonly Message[]): string {
  return messages.map(({ content }) => content).join('')
}

function rolesOf(messages: readonly Message[]): string[] {
  return messages.map(({ role }) => role)
}

type Chain = WorkloadSession['turns'][number]['chain']

function sharedBlocks(a: Chain, b: Chain): number {
  let shared = 0
  while (shared < Math.min(a.length, b.length) && a.lo[shared] === b.lo[shared]) shared++
  return shared
}

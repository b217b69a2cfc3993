/** Helpers that the tests of this layer share. */
import assert from 'node:assert/strict'
import type { BlockChain } from '../../src/core/block-chain.ts'
import type { Api } from '../../src/protocol/api.ts'
import type { HashedPrompt } from '../../src/protocol/prompt-hasher.ts'
import { type RequestRead, readRequest } from '../../src/protocol/read-request.ts'

/** Reads a body that must be understood; objects are written as compact JSON. */
export function readOk(api: Api, body: object | string, namespace = ''): RequestRead {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const outcome = readRequest(api, Buffer.from(text), namespace)
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.message)
  return outcome.request
}

/** The hashes as text, for comparison. */
export function hashesOf(chain: BlockChain): string[] {
  return Array.from({ length: chain.length }, (_, i) => `${chain.hi[i]}:${chain.lo[i]}`)
}

/** Blocks that two chains share from their head on. */
export function sharedBlocks(a: BlockChain, b: BlockChain): number {
  let shared = 0
  const end = Math.min(a.length, b.length)
  while (shared < end && a.lo[shared] === b.lo[shared] && a.hi[shared] === b.hi[shared]) shared++
  return shared
}

/** Asserts that a stream is the head of another, as far as whole blocks can tell. */
export function assertHead(head: HashedPrompt, whole: HashedPrompt): void {
  assert.ok(head.bytes <= whole.bytes, `${head.bytes} bytes before ${whole.bytes}`)
  assert.equal(sharedBlocks(head.chain, whole.chain), head.chain.length)
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlockChain } from '../../core/block-chain.ts'
import { HostCache } from './host-cache.ts'

function chainOf(family: number, blocks: number): BlockChain {
  return {
    lo: Uint32Array.from({ length: blocks }, (_, i) => i + 1),
    hi: new Uint32Array(blocks).fill(family),
    length: blocks,
  }
}

test('what was written is matched from its beginning', () => {
  const host = new HostCache(10)
  host.write(chainOf(1, 6), 4)
  assert.equal(host.matchBlocks(chainOf(1, 6), 6), 4)
  assert.equal(host.matchBlocks(chainOf(1, 6), 3), 3)
  assert.equal(host.matchBlocks(chainOf(2, 6), 6), 0)
})

test('the context used longest ago gives way, its end first', () => {
  const host = new HostCache(10)
  host.write(chainOf(1, 5), 5)
  host.write(chainOf(2, 5), 5)
  host.write(chainOf(1, 5), 5)
  host.write(chainOf(3, 3), 3)
  assert.equal(host.usedBlocks, 10)
  assert.equal(host.matchBlocks(chainOf(1, 5), 5), 5)
  assert.equal(host.matchBlocks(chainOf(2, 5), 5), 2)
  assert.equal(host.matchBlocks(chainOf(3, 3), 3), 3)
})

test('a context longer than the tier keeps its beginning', () => {
  const host = new HostCache(10)
  host.write(chainOf(1, 5), 5)
  host.write(chainOf(2, 30), 30)
  assert.equal(host.matchBlocks(chainOf(2, 30), 30), 10)
  assert.equal(host.matchBlocks(chainOf(1, 5), 5), 0)
})

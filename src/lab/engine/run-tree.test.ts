import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BlockChain } from '../../core/block-chain.ts'
import { type Run, RunTree } from './run-tree.ts'

/**
 * The same cache as single blocks, the way vLLM keeps it: reference counts, and a queue of blocks
 * that are free to be evicted, into which a sequence puts its blocks tail first.
 */
class BlockPool {
  readonly refs = new Map<string, number>()
  /** Insertion order is the order of eviction. */
  readonly idle = new Set<string>()

  match(keys: readonly string[]): number {
    const missing = keys.findIndex((key) => !this.refs.has(key))
    return missing < 0 ? keys.length : missing
  }

  hold(keys: readonly string[]): void {
    for (const key of keys) {
      this.refs.set(key, (this.refs.get(key) ?? 0) + 1)
      this.idle.delete(key)
    }
  }

  release(keys: readonly string[]): void {
    for (const key of keys.toReversed()) {
      const refs = (this.refs.get(key) ?? 0) - 1
      this.refs.set(key, refs)
      if (refs === 0) this.idle.add(key)
    }
  }

  evict(blocks: number): void {
    for (const key of [...this.idle].slice(0, blocks)) {
      this.idle.delete(key)
      this.refs.delete(key)
    }
  }
}

/** A context of small numbers: each block's hash stands for the numbers up to it. */
function keysOf(context: readonly number[]): string[] {
  return context.map((_, i) => context.slice(0, i + 1).join('.'))
}

function chainOf(context: readonly number[]): BlockChain {
  const hash = (text: string, seed: number): number =>
    [...text].reduce((h, c) => Math.imul(h ^ c.charCodeAt(0), 0x01000193), seed) >>> 0
  const keys = keysOf(context)
  return {
    lo: Uint32Array.from(keys, (key) => hash(key, 0x811c9dc5)),
    hi: Uint32Array.from(keys, (key) => hash(key, 0x3c6ef372)),
    length: keys.length,
  }
}

interface Held {
  readonly keys: string[]
  readonly run: Run
}

const context = fc.array(fc.nat(2), { minLength: 1, maxLength: 9 })
const action = fc.oneof(
  fc.record({ do: fc.constant('start' as const), context, prefix: fc.nat(9) }),
  fc.record({ do: fc.constant('end' as const), which: fc.nat(9) }),
  fc.record({ do: fc.constant('evict' as const), blocks: fc.nat(6) }),
)

test('the tree of runs holds, shares and evicts the same blocks as a pool of blocks', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const stored = new Map<string, number>()
      const keyOf = new Map<string, string>()
      const note = (chain: BlockChain, start: number, end: number, by: number) => {
        for (let i = start; i < end; i++) {
          const key = keyOf.get(`${chain.lo[i]}/${chain.hi[i]}`) as string
          stored.set(key, (stored.get(key) ?? 0) + by)
        }
      }
      const tree = new RunTree({
        stored: (chain, start, end) => note(chain, start, end, 1),
        removed: (chain, start, end) => note(chain, start, end, -1),
      })
      const pool = new BlockPool()
      const held: Held[] = []
      for (const act of actions) {
        if (act.do === 'start') {
          const chain = chainOf(act.context)
          const keys = keysOf(act.context)
          keys.forEach((key, i) => {
            keyOf.set(`${chain.lo[i]}/${chain.hi[i]}`, key)
          })
          held.push(start(tree, pool, chain, keys, act.prefix))
        } else if (act.do === 'end' && held.length > 0) {
          const [{ keys, run }] = held.splice(act.which % held.length, 1)
          tree.release(run)
          pool.release(keys)
        } else if (act.do === 'evict') {
          tree.evict(act.blocks)
          pool.evict(act.blocks)
        }
        assert.equal(tree.idleBlocks, pool.idle.size)
        assert.equal(tree.heldBlocks, pool.refs.size - pool.idle.size)
        for (const [key, count] of stored) assert.equal(count, pool.refs.has(key) ? 1 : 0, key)
      }
    }),
    { numRuns: 300 },
  )
})

/** A sequence that matches, holds what it found, and computes the rest in two chunks. */
function start(
  tree: RunTree,
  pool: BlockPool,
  chain: BlockChain,
  keys: string[],
  prefix: number,
): Held {
  const match = tree.match(chain, chain.length)
  const known = pool.match(keys)
  assert.equal(match.blocks, known)
  const idle = keys.slice(0, known).filter((key) => pool.idle.has(key))
  assert.equal(match.idleBlocks, idle.length)
  let run = tree.acquire(match)
  if (prefix > known && prefix < keys.length) run = tree.extend(run, chain, prefix)
  run = tree.extend(run, chain, keys.length)
  pool.hold(keys)
  assert.equal(run.end, keys.length)
  return { keys, run }
}

test('a conversation that nobody branches stays one run, however many turns it has', () => {
  const tree = new RunTree()
  const context = Array.from({ length: 400 }, (_, i) => i)
  const chain = chainOf(context)
  let runs = 0
  for (let turn = 1; turn <= 100; turn++) {
    const match = tree.match(chain, turn * 4)
    assert.equal(match.blocks, (turn - 1) * 4)
    const last = tree.extend(tree.acquire(match), chain, turn * 4)
    runs = 0
    for (let run: Run = last; run.parent !== undefined; run = run.parent) runs += 1
    tree.release(last)
  }
  assert.equal(runs, 1)
})

/** What every prefix index promises. Run by the test of each implementation. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { labelChain } from '../../../test/support/label-chain.ts'
import type { BlockChain } from '../block-chain.ts'
import { emptyChain } from '../block-chain.ts'
import type { PrefixIndex } from './prefix-index.ts'

/** @param skips reasons by the name of a test that does not hold for this implementation */
export function prefixIndexConformance(
  name: string,
  create: () => PrefixIndex,
  skips: Readonly<Record<string, string>> = {},
): void {
  describe(`${name}: prefix index conformance`, () => {
    const run = (title: string, test: (world: World) => void): void => {
      it(title, { skip: skips[title] ?? false }, () => test(new World(create())))
    }
    matching(run)
    eviction(run)
    hostTier(run)
    pending(run)
    truncation(run)
    instances(run)
  })
}

type Run = (title: string, test: (world: World) => void) => void

/** Chains by their labels, one letter a block; matches as `[gpu, host]`. */
class World {
  readonly index: PrefixIndex

  constructor(index: PrefixIndex) {
    this.index = index
  }

  add(gpu: number, host = 0, slot = 0): void {
    this.index.add(slot, gpu, host)
  }

  /** Inserted and computed. */
  hold(labels: string, slot = 0): void {
    this.index.insert(slot, chain(labels))
    this.index.confirm(slot, chain(labels))
  }

  match(labels: string, slot = 0): number[] {
    const out = [{ gpuBlocks: -1, hostBlocks: -1 }]
    this.index.match(chain(labels), [slot], out)
    return [out[0]!.gpuBlocks, out[0]!.hostBlocks]
  }

  size(slot = 0): number[] {
    const { gpuBlocks, hostBlocks } = this.index.size(slot)
    return [gpuBlocks, hostBlocks]
  }
}

function chain(labels: string): BlockChain {
  return labelChain([...labels])
}

function matching(run: Run): void {
  run('matches the shared head of two prompts, and no further', (world) => {
    world.add(100)
    world.hold('abcdef')
    assert.deepEqual(world.match('abcxyz'), [3, 0])
    assert.deepEqual(world.match('abcdef'), [6, 0])
    assert.deepEqual(world.match('abcdefgh'), [6, 0])
    assert.deepEqual(world.match('ab'), [2, 0])
    assert.deepEqual(world.match('xbcdef'), [0, 0])
  })

  run('matches nothing of an empty prompt, and holds nothing of it', (world) => {
    world.add(100)
    world.index.insert(0, emptyChain)
    world.index.confirm(0, emptyChain)
    world.index.withdraw(0, emptyChain)
    world.index.truncate(0, emptyChain, 0)
    assert.deepEqual(world.match(''), [0, 0])
    assert.deepEqual(world.size(), [0, 0])
  })

  run('reads only the blocks that the chain says it has', (world) => {
    world.add(100)
    world.index.insert(0, { ...chain('abcdef'), length: 2 })
    assert.deepEqual(world.match('abcdef'), [2, 0])
    world.hold('abcdef')
    const out = [{ gpuBlocks: 0, hostBlocks: 0 }]
    world.index.match({ ...chain('abcdef'), length: 4 }, [0], out)
    assert.deepEqual(out, [{ gpuBlocks: 4, hostBlocks: 0 }])
  })

  run('counts every holder, each for itself', (world) => {
    for (const slot of [3, 7, 20]) world.add(100, 0, slot)
    world.hold('abcd', 3)
    world.hold('abxy', 20)
    const out: { gpuBlocks: number; hostBlocks: number }[] = []
    world.index.match(chain('abcd'), [20, 7, 3], out)
    assert.deepEqual(
      out.map((match) => match.gpuBlocks),
      [2, 0, 4],
    )
  })

  run('a block that all prompts share is held once', (world) => {
    world.add(1000)
    for (let i = 0; i < 50; i++) world.index.insert(0, labelChain(['shared', i]))
    assert.deepEqual(world.size(), [51, 0])
  })

  run('matching changes nothing', (world) => {
    world.add(4)
    world.hold('ab')
    world.hold('xy')
    for (let i = 0; i < 5; i++) assert.deepEqual(world.match('ab'), [2, 0])
    world.hold('q')
    assert.deepEqual(world.match('ab'), [1, 0], 'still the oldest, despite the matches')
    assert.deepEqual(world.match('xy'), [2, 0])
  })
}

function eviction(run: Run): void {
  run('evicts the least recently used chain from its tip', (world) => {
    world.add(6)
    world.hold('abc')
    world.hold('xyz')
    world.hold('q')
    assert.deepEqual(world.match('abc'), [2, 0])
    assert.deepEqual(world.match('xyz'), [3, 0])
    world.hold('qr')
    assert.deepEqual(world.match('abc'), [1, 0])
    assert.deepEqual(world.size(), [6, 0])
  })

  run('using a chain again keeps it', (world) => {
    world.add(6)
    world.hold('abc')
    world.hold('xyz')
    world.hold('abc')
    world.hold('q')
    assert.deepEqual(world.match('abc'), [3, 0])
    assert.deepEqual(world.match('xyz'), [2, 0])
  })

  run('a shared head outlives the chains that continue it', (world) => {
    world.add(4)
    world.hold('abc')
    world.hold('abd')
    world.hold('abe')
    assert.deepEqual(world.match('abc'), [2, 0])
    assert.deepEqual(world.match('abe'), [3, 0])
  })

  run('a prompt larger than the memory keeps its head', (world) => {
    world.add(3)
    world.hold('xy')
    world.hold('abcdef')
    assert.deepEqual(world.match('abcdef'), [3, 0])
    assert.deepEqual(world.match('xy'), [0, 0])
    assert.deepEqual(world.size(), [3, 0])
  })

  run('a smaller capacity evicts at once, a larger one makes room', (world) => {
    world.add(6)
    world.hold('abc')
    world.hold('xyz')
    world.index.resize(0, 4, 0)
    assert.deepEqual(world.match('abc'), [1, 0])
    assert.deepEqual(world.match('xyz'), [3, 0])
    world.index.resize(0, 8, 0)
    world.hold('pqrs')
    assert.deepEqual(world.size(), [8, 0])
    world.index.resize(0, 0, 0)
    world.hold('abc')
    assert.deepEqual(world.size(), [0, 0])
  })
}

function hostTier(run: Run): void {
  run('what leaves the GPU goes to the host tier, contiguous behind it', (world) => {
    world.add(4, 10)
    world.hold('abcd')
    world.hold('xy')
    assert.deepEqual(world.match('abcd'), [2, 2])
    assert.deepEqual(world.size(), [4, 2])
    world.hold('xyzt')
    assert.deepEqual(world.match('abcd'), [0, 4])
  })

  run('a host block that is used comes back to the GPU', (world) => {
    world.add(4, 10)
    world.hold('abcd')
    world.hold('wxyz')
    world.hold('abcd')
    assert.deepEqual(world.match('abcd'), [4, 0])
    assert.deepEqual(world.match('wxyz'), [0, 4])
    assert.deepEqual(world.size(), [4, 4])
  })

  run('the host tier evicts too, least recently used and tips first', (world) => {
    world.add(2, 3)
    world.hold('ab')
    world.hold('cd')
    world.hold('ef')
    assert.deepEqual(world.match('ab'), [0, 1])
    assert.deepEqual(world.match('cd'), [0, 2])
    assert.deepEqual(world.size(), [2, 3])
    world.index.resize(0, 2, 0)
    assert.deepEqual(world.match('cd'), [0, 0])
    assert.deepEqual(world.size(), [2, 0])
  })

  run('losing the host tier and GPU memory at once leaves what fits', (world) => {
    world.add(4, 4)
    world.hold('abcd')
    world.hold('ax')
    assert.deepEqual(world.match('abcd'), [3, 1])
    world.index.resize(0, 2, 0)
    assert.deepEqual(world.match('ax'), [2, 0])
    assert.deepEqual(world.size(), [2, 0])
  })
}

function pending(run: Run): void {
  run('a request that failed before prefill takes back what it alone vouched for', (world) => {
    world.add(100)
    world.hold('ab')
    world.index.insert(0, chain('abcde'))
    assert.deepEqual(world.match('abcde'), [5, 0], 'believed as soon as it is sent')
    world.index.withdraw(0, chain('abcde'))
    assert.deepEqual(world.match('abcde'), [2, 0])
    assert.deepEqual(world.size(), [2, 0])
  })

  run('a block that another request vouches for stays until that fails too', (world) => {
    world.add(100)
    world.index.insert(0, chain('abcd'))
    world.index.insert(0, chain('abxy'))
    world.index.withdraw(0, chain('abcd'))
    assert.deepEqual(world.match('abcd'), [2, 0])
    assert.deepEqual(world.match('abxy'), [4, 0])
    world.index.withdraw(0, chain('abxy'))
    assert.deepEqual(world.size(), [0, 0])
  })

  run('once computed, a block stays when a later request fails', (world) => {
    world.add(100)
    world.index.insert(0, chain('abc'))
    world.index.insert(0, chain('abc'))
    world.index.confirm(0, chain('abc'))
    world.index.withdraw(0, chain('abc'))
    assert.deepEqual(world.match('abc'), [3, 0])
  })

  run('a pending block evicted meanwhile is not missed', (world) => {
    world.add(3)
    world.index.insert(0, chain('abc'))
    world.hold('xy')
    world.index.confirm(0, chain('abc'))
    assert.deepEqual(world.match('abc'), [1, 0])
    world.index.insert(0, chain('abc'))
    world.hold('pqr')
    world.index.withdraw(0, chain('abc'))
    assert.deepEqual(world.match('abc'), [0, 0])
    assert.deepEqual(world.match('pqr'), [3, 0])
    assert.deepEqual(world.size(), [3, 0])
  })

  run('the answer extends the prompt', (world) => {
    world.add(100)
    world.hold('abc')
    world.hold('abcAN')
    assert.deepEqual(world.match('abcANd'), [5, 0])
    world.index.insert(0, chain('abcANd'))
    world.index.withdraw(0, chain('abcANd'))
    assert.deepEqual(world.match('abcANd'), [5, 0])
  })
}

function truncation(run: Run): void {
  run('forgets the rest of a chain and everything that continues it', (world) => {
    world.add(100, 100)
    world.hold('abcdef')
    world.hold('abcxyz')
    world.hold('abq')
    world.index.truncate(0, chain('abcdef'), 2)
    assert.deepEqual(world.match('abcdef'), [2, 0])
    assert.deepEqual(world.match('abcxyz'), [2, 0])
    assert.deepEqual(world.match('abq'), [3, 0])
    assert.deepEqual(world.size(), [3, 0])
  })

  run('forgets blocks in the host tier as well', (world) => {
    world.add(4, 10)
    world.hold('abcd')
    world.hold('xy')
    world.index.truncate(0, chain('abcd'), 0)
    assert.deepEqual(world.match('abcd'), [0, 0])
    assert.deepEqual(world.size(), [2, 0])
  })

  run('has nothing to forget behind the end, or of what is not held', (world) => {
    world.add(100)
    world.hold('abc')
    world.index.truncate(0, chain('abc'), 3)
    world.index.truncate(0, chain('abcde'), 4)
    world.index.truncate(0, chain('xyz'), 0)
    assert.deepEqual(world.match('abc'), [3, 0])
  })
}

function instances(run: Run): void {
  run('a removed instance leaves nothing to the next one in its slot', (world) => {
    world.add(100)
    world.add(100, 0, 1)
    world.hold('abc')
    world.hold('abc', 1)
    world.index.remove(0)
    assert.deepEqual(world.match('abc'), [0, 0])
    assert.deepEqual(world.size(), [0, 0])
    world.add(100)
    assert.deepEqual(world.match('abc'), [0, 0])
    assert.deepEqual(world.match('abc', 1), [3, 0])
  })

  run('what comes late for an instance that is gone changes nothing', (world) => {
    world.add(100)
    world.index.insert(0, chain('abc'))
    world.index.remove(0)
    world.index.confirm(0, chain('abc'))
    world.index.withdraw(0, chain('abc'))
    world.index.truncate(0, chain('abc'), 1)
    world.index.insert(0, chain('abc'))
    world.index.resize(0, 10, 10)
    world.index.remove(0)
    assert.deepEqual(world.size(), [0, 0])
    world.add(100)
    assert.deepEqual(world.size(), [0, 0])
  })

  run('a slot in use is not given out again', (world) => {
    world.add(100)
    assert.throws(() => world.add(100), /slot 0 is in use/)
  })
}

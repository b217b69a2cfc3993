/**
 * The prefix index as plainly as it can be written: the oracle for the fast one, and the yardstick
 * of its benchmark. Every call looks at everything.
 */
import { assert } from '../../base/assert.ts'
import type { BlockChain } from '../block-chain.ts'
import { limits } from '../limits.ts'
import type { PrefixIndex, TierMatch } from './prefix-index.ts'

interface Block {
  readonly parent: string | null
  inHost: boolean
  /** Larger is more recent. */
  usedAt: number
  pending: number
  firm: boolean
}

interface Instance {
  gpuBlocksMax: number
  hostBlocksMax: number
  readonly blocks: Map<string, Block>
}

export class NaiveIndex implements PrefixIndex {
  readonly #slots = new Map<number, Instance>()
  #now = 0

  add(slot: number, gpuBlocksMax: number, hostBlocksMax: number): void {
    assert(!this.#slots.has(slot), `slot ${slot} is in use`)
    this.#slots.set(slot, { gpuBlocksMax: 0, hostBlocksMax: 0, blocks: new Map() })
    this.resize(slot, gpuBlocksMax, hostBlocksMax)
  }

  remove(slot: number): void {
    this.#slots.delete(slot)
  }

  resize(slot: number, gpuBlocksMax: number, hostBlocksMax: number): void {
    const instance = this.#slots.get(slot)
    if (instance === undefined) return
    instance.gpuBlocksMax = Math.min(gpuBlocksMax, limits.blocksPerEndpointMax)
    instance.hostBlocksMax = Math.min(hostBlocksMax, limits.blocksPerEndpointMax)
    this.#evict(instance)
  }

  match(chain: BlockChain, slots: readonly number[], out: TierMatch[]): void {
    slots.forEach((slot, i) => {
      const found = { gpuBlocks: 0, hostBlocks: 0 }
      for (const block of this.#leading(slot, chain)) {
        if (block.inHost || found.hostBlocks > 0) found.hostBlocks++
        else found.gpuBlocks++
      }
      out[i] = found
    })
  }

  insert(slot: number, chain: BlockChain): void {
    const instance = this.#slots.get(slot)
    if (instance === undefined) return
    const { blocks } = instance
    for (let i = Math.min(chain.length, instance.gpuBlocksMax) - 1; i >= 0; i--) {
      const key = keyAt(chain, i)
      const parent = i === 0 ? null : keyAt(chain, i - 1)
      const block = blocks.get(key) ?? { parent, inHost: false, usedAt: 0, pending: 0, firm: false }
      block.inHost = false
      block.usedAt = ++this.#now
      block.pending++
      blocks.set(key, block)
    }
    this.#evict(instance)
  }

  confirm(slot: number, chain: BlockChain): void {
    for (const block of this.#leading(slot, chain)) {
      block.pending = Math.max(0, block.pending - 1)
      block.firm = true
    }
  }

  withdraw(slot: number, chain: BlockChain): void {
    const leading = this.#leading(slot, chain)
    for (const block of leading) block.pending = Math.max(0, block.pending - 1)
    for (let i = leading.length - 1; i >= 0; i--) {
      const key = keyAt(chain, i)
      if (leading[i]!.firm || leading[i]!.pending > 0 || this.#hasChild(slot, key)) return
      this.#slots.get(slot)!.blocks.delete(key)
    }
  }

  truncate(slot: number, chain: BlockChain, blocks: number): void {
    if (blocks < chain.length) this.#forget(slot, keyAt(chain, blocks))
  }

  size(slot: number): TierMatch {
    const blocks = [...(this.#slots.get(slot)?.blocks.values() ?? [])]
    const hostBlocks = blocks.filter((block) => block.inHost).length
    return { gpuBlocks: blocks.length - hostBlocks, hostBlocks }
  }

  /** The blocks of the chain that are held, from its head to the first gap. */
  #leading(slot: number, chain: BlockChain): Block[] {
    const leading: Block[] = []
    for (let i = 0; i < chain.length; i++) {
      const block = this.#slots.get(slot)?.blocks.get(keyAt(chain, i))
      if (block === undefined) break
      leading.push(block)
    }
    return leading
  }

  #hasChild(slot: number, key: string): boolean {
    return [...this.#slots.get(slot)!.blocks.values()].some((block) => block.parent === key)
  }

  #forget(slot: number, key: string): void {
    const blocks = this.#slots.get(slot)?.blocks
    if (blocks === undefined || !blocks.delete(key)) return
    for (const [child, block] of [...blocks]) if (block.parent === key) this.#forget(slot, child)
  }

  #evict(instance: Instance): void {
    const { blocks, gpuBlocksMax, hostBlocksMax } = instance
    for (const key of surplus(blocks, false, gpuBlocksMax)) {
      const block = blocks.get(key)!
      block.inHost = true
      block.usedAt = ++this.#now
    }
    for (const key of surplus(blocks, true, hostBlocksMax)) blocks.delete(key)
  }
}

/** What a tier holds beyond `max`, oldest first. */
function surplus(blocks: Map<string, Block>, inHost: boolean, max: number): string[] {
  const tier = [...blocks].filter(([, block]) => block.inHost === inHost)
  tier.sort(([, a], [, b]) => a.usedAt - b.usedAt)
  return tier.slice(0, Math.max(0, tier.length - max)).map(([key]) => key)
}

function keyAt(chain: BlockChain, index: number): string {
  return `${chain.hi[index]}:${chain.lo[index]}`
}

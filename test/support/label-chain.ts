import type { BlockChain } from '../../src/core/block-chain.ts'

/**
 * A chain whose blocks are named: two chains share exactly the blocks before their first
 * difference, as the chains of real prompts do.
 */
export function labelChain(labels: readonly (string | number)[]): BlockChain {
  const lo = new Uint32Array(labels.length)
  const hi = new Uint32Array(labels.length)
  let a = 0x811c9dc5
  let b = 0x01000193
  labels.forEach((label, i) => {
    for (const letter of `${label};`) {
      a = Math.imul(a ^ letter.charCodeAt(0), 0x01000193)
      b = Math.imul(b ^ a ^ (a >>> 15), 0x85ebca6b)
    }
    lo[i] = a
    hi[i] = b
  })
  return { lo, hi, length: labels.length }
}

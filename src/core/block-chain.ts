/**
 * A prompt as a chain of block hashes: hash i stands for blocks 0..i together, so two prompts share
 * a prefix of i + 1 blocks exactly when their hashes at i are equal. Hashes are 64 bits in two
 * 32-bit halves, because typed arrays of numbers are several times faster than bigints.
 *
 * A block is `blockBytes` of the prompt's canonical byte stream (see protocol/prompt). Only whole
 * blocks are hashed; a tail shorter than a block has no hash.
 */
export interface BlockChain {
  readonly lo: Uint32Array
  readonly hi: Uint32Array
  /** Number of whole blocks; `lo` and `hi` may be longer. */
  readonly length: number
}

/** Bytes of canonical prompt text in one block: about 64 tokens of English or code. */
export const blockBytes = 256

export const emptyChain: BlockChain = {
  lo: new Uint32Array(0),
  hi: new Uint32Array(0),
  length: 0,
}

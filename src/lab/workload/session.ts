/** Traffic as the lab knows it: sessions of turns, each a prompt and its answer. */
import { type BlockChain, blockBytes } from '../../core/block-chain.ts'

/** Bytes of canonical prompt per token in the lab: one chain block is then this many tokens. */
const bytesPerToken = 4
export const blockTokens = blockBytes / bytesPerToken

/** One call of a session: its whole prompt and the answer that it will get. */
export interface Turn {
  /** Tool or human time between the previous answer and this call. */
  readonly gapMs: number
  readonly promptTokens: number
  readonly outputTokens: number
  /** Block hashes of prompt and answer, in the workload's blocks. */
  readonly chain: BlockChain
}

/**
 * Turns that follow each other. With one turn it is an open-loop request; with more, each turn is
 * sent `gapMs` after the answer to the one before, however long that took (closed loop).
 */
export interface WorkloadSession {
  readonly id: string
  readonly startMs: number
  readonly tenant: string
  readonly priorityClass: string
  readonly turns: readonly Turn[]
}

/**
 * A process of a load generator: sends turns in a fixed order, a few at once. A turn whose session
 * is not ready for it takes its place nevertheless, so a slow session holds up others.
 */
export interface Sender {
  readonly turnsAtOnce: number
  readonly turns: readonly SentTurn[]
}

export interface SentTurn {
  /** Index of the session in the workload, and of the turn in it. */
  readonly session: number
  readonly turn: number
  /** After the answer, before the place is free and the session ready for its next turn. */
  readonly restMs: number
}

export interface Workload {
  readonly name: string
  readonly sessions: readonly WorkloadSession[]
  /**
   * Sessions open at once: the next of the list is submitted when one ends, at its `startMs` or
   * later. Left out, each is submitted at its `startMs`, whatever else goes on.
   */
  readonly sessionsAtOnce?: number
  /** Who sends the turns, all from the start; left out, each session its own. */
  readonly senders?: readonly Sender[]
  /**
   * Tokens of a block of its chains, where it was made for one engine's blocks; `blockTokens` when
   * left out, which is what the arms of the field that count in tokens assume.
   */
  readonly blockTokens?: number
}

/** The head of a chain, without a copy. */
export function headOf(chain: BlockChain, blocks: number): BlockChain {
  return { lo: chain.lo, hi: chain.hi, length: Math.min(blocks, chain.length) }
}

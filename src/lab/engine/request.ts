import type { BlockChain } from '../../core/block-chain.ts'
import type { SequenceBlocks } from './kv-pool.ts'
import type { Run } from './run-tree.ts'

export type RequestId = string | number

/** What the model needs to know of a request; the answer's length is fixed beforehand. */
export interface EngineRequest {
  readonly id: RequestId
  /**
   * Block hashes of the prompt and its answer, at the engine's block size. It may end early: blocks
   * without a hash are computed but never shared. Must not change afterwards.
   */
  readonly chain: BlockChain
  readonly promptTokens: number
  /** Tokens that the answer will have, at least 1. */
  readonly outputTokens: number
}

/** How a request went. Times in ms of the model's clock; undefined is "not yet". */
export interface RequestRecord {
  readonly id: RequestId
  readonly promptTokens: number
  readonly outputTokens: number
  readonly submittedMs: number
  /** When it reaches the queue, tokenised. */
  readonly queuedMs: number
  /** Start of its first step. */
  readonly startedMs: number | undefined
  readonly firstTokenMs: number | undefined
  readonly finishedMs: number | undefined
  /** Tokens generated so far. */
  readonly generatedTokens: number
  /** Prompt tokens that were in GPU memory when it was first scheduled. */
  readonly cachedGpuTokens: number
  /** And those that were brought back from host memory. */
  readonly cachedHostTokens: number
  readonly preemptions: number
}

/** A request inside the engine: its record, and where it stands. */
export interface Sequence extends SequenceBlocks {
  readonly request: EngineRequest
  readonly record: { -readonly [K in keyof RequestRecord]: RequestRecord[K] }
  state: 'arriving' | 'waiting' | 'running' | 'over'
  /** Tokens of context whose KV is in memory. */
  computedTokens: number
  /** Tokens that the step in progress computes for it. */
  scheduledTokens: number
  /** While running: before this time its context is still on the way from host memory. */
  loadedMs: number
}

/** A request that has just come; `root` is the empty context. */
export function newSequence(
  request: EngineRequest,
  root: Run,
  submittedMs: number,
  queuedMs: number,
): Sequence {
  return {
    request,
    record: {
      id: request.id,
      promptTokens: request.promptTokens,
      outputTokens: request.outputTokens,
      submittedMs,
      queuedMs,
      startedMs: undefined,
      firstTokenMs: undefined,
      finishedMs: undefined,
      generatedTokens: 0,
      cachedGpuTokens: 0,
      cachedHostTokens: 0,
      preemptions: 0,
    },
    run: root,
    privateBlocks: 0,
    state: 'arriving',
    computedTokens: 0,
    scheduledTokens: 0,
    loadedMs: 0,
  }
}

/** Tokens that must be in memory before the next one can be generated. */
export function targetTokens(sequence: Sequence): number {
  return sequence.request.promptTokens + sequence.record.generatedTokens
}

/** Whether the sequence only needs its last token computed to generate the next. */
export function isDecoding(sequence: Sequence): boolean {
  return (
    sequence.record.generatedTokens > 0 && sequence.computedTokens === targetTokens(sequence) - 1
  )
}

import type { CacheCounters } from './batcher.ts'
import type { RequestRecord } from './request.ts'
import type { StepWork } from './step-time.ts'

/** One step that is over, or several decode steps alike. */
export interface StepSample {
  readonly startMs: number
  readonly endMs: number
  readonly steps: number
  /** The work of the first of them. */
  readonly work: StepWork
}

/** Tokens that a request got from the step that has just ended. */
export interface RequestProgress {
  readonly record: RequestRecord
  readonly tokens: number
  /** When the step ended; of several steps alike, the last. */
  readonly atMs: number
  readonly finished: boolean
}

/** Counts over the life of the engine. */
export interface EngineCounters extends CacheCounters {
  steps: number
  /** Time in steps, and the part of it that prefill caused, ms. */
  busyMs: number
  prefillMs: number
  /** Tokens whose KV was computed as prompt, recomputed ones included. */
  computedPromptTokens: number
  /** Prompt tokens of requests that got a first token. */
  promptTokens: number
  generatedTokens: number
  finishedRequests: number
  abortedRequests: number
}

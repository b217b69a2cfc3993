import type { Scheduler } from '../base/scheduler.ts'
import {
  type FetchedText,
  FetchFailed,
  type FetchTextOptions,
  fetchText,
} from '../io/http1/fetch-text.ts'
import type { UpstreamPool } from '../io/http1/upstream-pool.ts'

/** Asks one engine for a small document. Any status resolves; rejects with FetchFailed. */
export type EngineFetch = (path: string, options: FetchTextOptions) => Promise<FetchedText>

export function engineFetch(pool: UpstreamPool, scheduler: Scheduler): EngineFetch {
  return (path, options) => fetchText(pool, path, options, scheduler)
}

/** Headers of everything that is asked of an engine; the key goes nowhere else. */
export function engineHeaders(apiKey: string | null): readonly string[] {
  const accept = ['Accept', '*/*']
  return apiKey === null ? accept : [...accept, 'Authorization', `Bearer ${apiKey}`]
}

/** Why nothing usable came. */
export interface FetchProblem {
  /** A bounded word; it becomes a label. */
  readonly cause: string
  /** For an operator. */
  readonly reason: string
  /** Nothing listens there: no process, or no host. */
  readonly gone: boolean
}

export function fetchProblem(error: unknown): FetchProblem {
  const failure = error instanceof FetchFailed ? error.failure : null
  if (failure === null) {
    const reason = error instanceof Error ? error.message : String(error)
    const cause = reason.startsWith('answer longer') ? 'too-large' : 'timeout'
    return { cause, reason, gone: false }
  }
  const { cause } = failure
  // The words by which the core's health rules know that nobody is there.
  if (cause === 'refused') return { cause, reason: 'connection refused', gone: true }
  if (cause === 'unreachable') return { cause, reason: 'unreachable', gone: true }
  return { cause, reason: (error as FetchFailed).message, gone: false }
}

export function statusProblem(status: number): FetchProblem {
  return { cause: `status ${status}`, reason: `status ${status}`, gone: false }
}

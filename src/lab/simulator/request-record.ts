/** What became of one simulated request, and of one session. Times in ms of the run. */
import type { EndpointKey } from '../../core/events.ts'

/** `refused` by the router or the engine before any work; `failed` with its engine. */
export type RequestOutcome = 'open' | 'done' | 'refused' | 'failed'

export interface SimulatedRequest {
  readonly sessionId: string
  readonly turn: number
  readonly tenant: string
  readonly priorityClass: string
  /** When the client had it ready: every latency counts from here. */
  readonly readyMs: number
  readonly promptTokens: number
  readonly outputTokens: number
  /** Prompt tokens that came in an earlier request: cached, if memory had no end. */
  readonly reusableTokens: number
  /** Where it was sent last. */
  endpoint: EndpointKey | null
  /** Times it was sent: once, and again where an engine failed before its answer. */
  attempts: number
  /** When it was first sent; until then the router held it. */
  dispatchedMs: number | null
  firstTokenMs: number | null
  finishedMs: number | null
  /** Prompt tokens that the engine found cached, of both tiers. */
  cachedTokens: number
  predictedTtftMs: number | null
  predictedCachedTokens: number | null
  outcome: RequestOutcome
  /** Why it was refused or failed. */
  reason: string | null
}

export interface SimulatedSession {
  readonly id: string
  readonly tenant: string
  readonly priorityClass: string
  /** When its first request was ready. */
  readonly submittedMs: number
  /** When its last answer was whole, or its client gave up; null while it is open. */
  endedMs: number | null
  /** All of its requests were answered. */
  completed: boolean
}

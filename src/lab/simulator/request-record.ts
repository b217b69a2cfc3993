/** What became of one simulated request. Times in ms of the run. */
import type { EndpointKey } from '../../core/events.ts'

export interface SimulatedRequest {
  readonly sessionId: string
  readonly turn: number
  readonly tenant: string
  readonly priorityClass: string
  /** When the client had it ready: every latency counts from here. */
  readonly readyMs: number
  readonly promptTokens: number
  readonly outputTokens: number
  endpoint: EndpointKey | null
  dispatchedMs: number | null
  firstTokenMs: number | null
  finishedMs: number | null
  /** Prompt tokens that the engine found cached, of both tiers. */
  cachedTokens: number
  predictedTtftMs: number | null
  predictedCachedTokens: number | null
  /** Why it was refused; null when it was served. */
  refused: string | null
}

/** The exchange, as its attempts see it. */
import type { Outcome, Phase, RequestArrived, Usage } from '../../core/events.ts'
import type { ServedRequest } from '../../io/http1-server/served.ts'
import type { Api } from '../../protocol/api.ts'
import type { Gateway } from './gateway.ts'
import type { Incoming } from './incoming.ts'

/** How an attempt failed before anything of an answer went to the client. */
export interface AttemptFailure {
  readonly phase: Phase
  readonly cause: string
  /** Whether any of the request may have reached the engine. */
  readonly sent: boolean
  readonly mayRun: boolean
  readonly endpointFault: boolean
  /** Nothing was processed, or the connection broke: it may be sent elsewhere. */
  readonly repeatable: boolean
  readonly retryAfterMs: number | null
}

/** How a request ended that an engine answered, in whole or in part. */
export interface AnswerEnd {
  readonly outcome: Outcome
  readonly phase: Phase
  readonly cause: string
  readonly endpointFault: boolean
  readonly usage: Usage
  readonly answered: { readonly chain: RequestArrived['chain']; readonly bytes: number } | null
}

export interface AttemptOwner {
  readonly gateway: Gateway
  readonly requestId: string
  readonly clientRequestId: string | null
  readonly api: Api
  readonly served: ServedRequest
  readonly incoming: Incoming
  readonly receivedMs: number
  status: number | null
  firstTokenMs: number | null
  /**
   * The attempt came to nothing. True when the request went elsewhere or was refused; false when
   * the engine's own answer (`answered`) is to be relayed.
   */
  attemptFailed(failure: AttemptFailure, answered: boolean): boolean
  answerEnded(end: AnswerEnd): void
  /** The request can be sent nowhere else any more: its body may be forgotten. */
  bodyNoLongerNeeded(): void
  /** Code of ours threw while the engine's answer was handled. */
  crashed(error: unknown): void
}

/** One request as the decision log tells of it, from its first decision to its end. */
export interface LoggedCall {
  readonly model: string
  readonly tenant: string
  readonly session: string | null
  /** Of the last dispatch; null when it was never sent. */
  readonly endpoint: string | null
  /** Wall-clock time, ms since 1970. */
  readonly arrivedMs: number
  readonly endedMs: number
  readonly outcome: CallEnd
  /** Error code of a refusal, or what failed; null otherwise. */
  readonly cause: string | null
  readonly attempts: number
  /** At the router, before it was sent. */
  readonly heldMs: number
  /** From arrival; null when no token came. */
  readonly ttftMs: number | null
  readonly ttftSinceDispatchMs: number | null
  readonly predictedTtftMs: number | null
  readonly e2eMs: number | null
  readonly promptTokens: number | null
  readonly outputTokens: number | null
  readonly cachedTokens: number | null
  readonly predictedCachedTokens: number | null
  /** Had been sent before in the same session, but was not found cached; null where not known. */
  readonly recomputedTokens: number | null
  readonly phases: CallPhases
}

export type CallEnd =
  | 'done'
  | 'failed'
  | 'client-gone'
  | 'refused'
  /** The log ends before it does. */
  | 'open'

/** Where a call's time went, ms. */
export interface CallPhases {
  readonly held: number
  readonly queue: number
  readonly prefill: number
  readonly decode: number
  /** Sent, and no token came. */
  readonly unanswered: number
}

/** What the router predicted for the endpoint that it chose; only their proportions are used. */
export interface PredictedPhases {
  readonly waitMs: number
  readonly prefillMs: number
  readonly decodeMs: number
}

interface CallTimes {
  readonly heldMs: number
  readonly ttftMs: number | null
  readonly e2eMs: number
  readonly streaming: boolean
  readonly predicted: PredictedPhases | null
}

/**
 * Splits a call's time. The log has when the first token came, not when prefill began: the time
 * until then is shared between queue and prefill as the router predicted them; where nothing was
 * predicted it counts as prefill. The time of an answer in one piece is shared the same way, decode
 * included.
 */
export function callPhases({ heldMs, ttftMs, e2eMs, streaming, predicted }: CallTimes): CallPhases {
  const held = Math.min(heldMs, e2eMs)
  if (ttftMs === null) {
    return { held, queue: 0, prefill: 0, decode: 0, unanswered: e2eMs - held }
  }
  const { waitMs = 0, prefillMs = 1, decodeMs = 0 } = predicted ?? {}
  const untilMs = Math.max(0, (streaming ? Math.min(ttftMs, e2eMs) : e2eMs) - held)
  const whole = waitMs + prefillMs + (streaming ? 0 : decodeMs)
  const share = (ms: number): number => (whole > 0 ? (untilMs * ms) / whole : 0)
  const queue = share(waitMs)
  const decode = streaming ? Math.max(0, e2eMs - Math.max(ttftMs, held)) : share(decodeMs)
  const prefill = streaming || whole <= 0 ? untilMs - queue : share(prefillMs)
  return { held, queue, prefill, decode, unanswered: 0 }
}

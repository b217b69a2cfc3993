/** What became of one call. Times are those of the clock that the bench runs by, in ms. */
export interface CallRecord {
  /** When it was to be sent, whatever the server did. All latencies count from here. */
  readonly intendedMs: number
  /** When it was handed to the socket. */
  readonly sentMs: number
  /** Of an answer in one piece, when that came. Null when no token came. */
  readonly firstTokenMs: number | null
  readonly endedMs: number
  readonly outcome: CallOutcome
  /** Status or failure, of calls that were not answered; null for the others. */
  readonly cause: string | null
  readonly promptTokens: number | null
  /** As the engine counts them; without its word, events that carried output. */
  readonly outputTokens: number
  readonly cachedTokens: number | null
}

export type CallOutcome =
  | 'done'
  /** The server had no room: 429 or 503. */
  | 'refused'
  | 'failed'
  /** Longer than the limit, or not over when the run was. */
  | 'timed-out'

/** Time to first token, ms, from the intended send time. */
export function ttftOf({ intendedMs, firstTokenMs }: CallRecord): number | null {
  return firstTokenMs === null ? null : firstTokenMs - intendedMs
}

/** Time per output token after the first, ms; null with fewer than two, or all in one piece. */
export function tpotOf({ firstTokenMs, endedMs, outputTokens }: CallRecord): number | null {
  if (firstTokenMs === null || outputTokens < 2 || endedMs === firstTokenMs) return null
  return (endedMs - firstTokenMs) / (outputTokens - 1)
}

export interface TaskRecord {
  readonly startMs: number
  readonly endedMs: number
  readonly outcome: TaskOutcome
  readonly calls: number
}

export type TaskOutcome =
  /** All of its calls were answered. */
  | 'completed'
  | 'failed'
  /** Under way when the stage was over. */
  | 'cut'

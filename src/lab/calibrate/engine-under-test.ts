/** What a calibration asks of an engine: one call at a time, or several at once. */

export interface EngineCall {
  readonly prompt: string
  /** Tokens that the answer shall have; an engine may stop earlier. */
  readonly outputTokens: number
}

/** How a call went. Times in ms since it was sent, on the client's side. */
export interface CallSample {
  readonly promptTokens: number
  /** Of them, how many the engine says it found cached; null where it does not say. */
  readonly cachedTokens: number | null
  readonly outputTokens: number
  /** When it was sent, on the clock of the run. */
  readonly sentMs: number
  /** When each piece of output came, ascending; at least one. Mostly a token each. */
  readonly outputMs: readonly number[]
}

export interface EngineUnderTest {
  /** Rejects with a CallFailed where no whole answer came. */
  call(call: EngineCall): Promise<CallSample>
}

/** `message` is for an operator: `status 400: …`, say. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
  /** The HTTP status of a refusal; null where the answer broke or never came. */
  readonly status: number | null

  constructor(message: string, status: number | null) {
    super(message)
    this.status = status
  }
}

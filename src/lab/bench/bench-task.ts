/** What a client of the bench does: one call, or several with pauses between them. */

export interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export interface BenchTurn {
  /** Tool or human time between the previous answer and this call. */
  readonly gapMs: number
  /** Asked for; the engine's answer may be shorter. */
  readonly outputTokens: number
  /** Made when it is sent: texts of thousands of calls at once would fill the memory. */
  messages(): readonly Message[]
}

export interface BenchTask {
  readonly turns: readonly BenchTurn[]
}

export interface TaskSource {
  /** The next one; null when there are no more. */
  next(): BenchTask | null
}

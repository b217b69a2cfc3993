/** Waiting until running requests finish and leave KV memory or a place in the batch. */

/** A resource that each running request holds some of until it ends. */
export interface Room {
  readonly capacity: number
  /** Held and claimed by everything dispatched before. */
  readonly inUse: number
  /** The part held by requests that decode. */
  readonly inUseByDecodes: number
  readonly needed: number
}

/**
 * Time until `needed` is free, ms.
 *
 * The d decoding requests have m output tokens left on average, and their ends are taken to lie
 * evenly over the next 2m steps: the n-th of them is expected after `2m·n / (d + 1)` steps (the
 * n-th order statistic). What even all of them together cannot free must pass through the memory
 * first: whole lives of requests like this one, `capacity` at a time.
 */
export function roomWaitMs(
  room: Room,
  decodes: number,
  remainingTokensMean: number,
  outputTokens: number,
  stepMs: number,
): number {
  // What exceeds the capacity by itself is refused or served alone by the engine.
  const needed = Math.min(room.needed, room.capacity)
  const missing = room.inUse + needed - room.capacity
  if (missing <= 0) return 0
  const byDecodes = Math.min(missing, room.inUseByDecodes)
  let steps = 0
  if (decodes > 0 && room.inUseByDecodes > 0) {
    const ends = Math.ceil((byDecodes / room.inUseByDecodes) * decodes)
    steps = (2 * remainingTokensMean * ends) / (decodes + 1)
  }
  return stepMs * (steps + (outputTokens * (missing - byDecodes)) / room.capacity)
}

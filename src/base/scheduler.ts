/** A monotone clock. Zero is arbitrary; only differences mean anything. */
export interface Clock {
  nowMs(): number
}

/**
 * A clock that can also call back. `io/` implements it with real timers, the simulator with a
 * virtual event queue, so that the engine model runs unchanged in both.
 */
export interface Scheduler extends Clock {
  /** Calls `run` at `atMs` (soon, but not synchronously, when that is past). Returns a cancel. */
  at(atMs: number, run: () => void): () => void
}

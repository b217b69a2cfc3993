/**
 * Decode steps that follow each other with the same sequences. Each is longer than the one before
 * by the same amount, so many of them can be one event: that is what makes a simulation's cost
 * depend on its requests and not on their tokens.
 */
export interface DecodeRun {
  readonly startMs: number
  /** Duration of the first step. */
  readonly firstMs: number
  /** By how much each step is longer than the one before. */
  readonly growthMs: number
}

/** When the step number `steps`, counted from 1, ends. */
export function runEndMs(run: DecodeRun, steps: number): number {
  return run.startMs + steps * run.firstMs + (run.growthMs * steps * (steps - 1)) / 2
}

/** How many steps it takes to reach `atMs`, between 1 and `stepsMax`. */
export function stepsToReach(run: DecodeRun, atMs: number, stepsMax: number): number {
  let low = 1
  let high = stepsMax
  while (low < high) {
    const middle = (low + high) >>> 1
    if (runEndMs(run, middle) < atMs) low = middle + 1
    else high = middle
  }
  return low
}

/** How many of the steps are over at `nowMs`. */
export function stepsOver(run: DecodeRun, nowMs: number, stepsMax: number): number {
  if (runEndMs(run, 1) > nowMs) return 0
  const reached = stepsToReach(run, nowMs, stepsMax)
  return runEndMs(run, reached) > nowMs ? reached - 1 : reached
}

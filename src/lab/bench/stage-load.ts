import type { ArrivalKind } from './arrivals.ts'

/** How a stage's tasks begin. */
export type StageLoad =
  /** Open loop: at times of their own, whatever the server does. */
  | { readonly kind: 'rate'; readonly perSecond: number; readonly arrivals: ArrivalKind }
  /** Closed loop: so many are under way; the next begins when one ends. */
  | { readonly kind: 'at-once'; readonly count: number }

export interface StagePlan {
  readonly load: StageLoad
  /** Excluded from all figures: connections are new, caches cold. */
  readonly warmUpMs: number
  /** Of the measured window after it; null: until all tasks are done. */
  readonly durationMs: number | null
  /** How long calls may go on after the window, until they count as timed out. */
  readonly drainMs: number
  readonly timeoutMs: number
  readonly seed: number
}

/** `4 requests/s`, `16 at once`. */
export function loadText(load: StageLoad): string {
  return load.kind === 'rate' ? `${load.perSecond}/s` : `${load.count} at once`
}

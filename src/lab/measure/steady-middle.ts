import type { SimulatedSession } from '../simulator/request-record.ts'

/** A stretch of the run. */
export interface TimeWindow {
  readonly fromMs: number
  readonly toMs: number
}

/** Share of the time under full load that counts as warm-up. */
const warmUpShare = 0.15
/** Below this share of the most sessions that were open at once, the load is running out. */
const fullShare = 0.8

/**
 * The part of a run in which the load is what it was meant to be. It ends when the load begins to
 * run out: once the last session has been submitted, when fewer than four fifths of the most that
 * were open at once still are; where fewer were open at that moment, with the last submission. The
 * first 15 % of the time until then are warm-up: caches are cold. Null where nothing is left.
 *
 * @param endMs when the run ended, and with it the sessions still open
 */
export function steadyMiddle(
  sessions: readonly SimulatedSession[],
  endMs: number,
): TimeWindow | null {
  const steps = openSessions(sessions, endMs)
  const lastMs = Math.max(0, ...sessions.map(({ submittedMs }) => submittedMs))
  const firstMs = Math.min(...sessions.map(({ submittedMs }) => submittedMs))
  const most = Math.max(0, ...steps.map(({ open }) => open))
  const full = steps.find(({ atMs, open }) => atMs >= lastMs && open < fullShare * most)
  const toMs = full === undefined ? lastMs : full.atMs
  const fromMs = firstMs + warmUpShare * (toMs - firstMs)
  return toMs > fromMs ? { fromMs, toMs } : null
}

/** How many sessions are open, from each time on at which that changes. */
function openSessions(
  sessions: readonly SimulatedSession[],
  endMs: number,
): { readonly atMs: number; readonly open: number }[] {
  const changes = new Map<number, number>()
  const change = (atMs: number, by: number): void => {
    changes.set(atMs, (changes.get(atMs) ?? 0) + by)
  }
  for (const { submittedMs, endedMs } of sessions) {
    change(submittedMs, 1)
    change(endedMs ?? endMs, -1)
  }
  let open = 0
  return [...changes]
    .sort(([a], [b]) => a - b)
    .map(([atMs, by]) => {
      open += by
      return { atMs, open }
    })
}

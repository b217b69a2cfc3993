import type { Scheduler } from '../base/scheduler.ts'

/** The longest delay that a Node timer takes; a longer wait is made of several. */
const timerDelayMsMax = 2_147_483_647

/**
 * The wall clock as a `Scheduler`: monotone, zero at the call. With a `timeScale` of 10 the time
 * that it shows runs ten times faster than real time. A callback never runs before its time.
 */
export function realTimeScheduler(timeScale = 1): Scheduler {
  if (!(timeScale > 0)) throw new RangeError(`timeScale must be above 0, not ${timeScale}`)
  const originMs = performance.now()
  const nowMs = (): number => (performance.now() - originMs) * timeScale

  const at = (atMs: number, run: () => void): (() => void) => {
    let cancel: () => void
    const arm = (): void => {
      const delayMs = (atMs - nowMs()) / timeScale
      if (delayMs <= 0) {
        const immediate = setImmediate(run)
        cancel = () => clearImmediate(immediate)
      } else {
        const timer = setTimeout(fire, Math.min(delayMs, timerDelayMsMax))
        cancel = () => clearTimeout(timer)
      }
    }
    // A Node timer may fire a fraction of a millisecond early, and a long wait has several legs.
    const fire = (): void => {
      if (nowMs() < atMs) arm()
      else run()
    }
    arm()
    return () => cancel()
  }

  return { nowMs, at }
}

/** Milliseconds since 1970, for what others read as a date; never for measuring. */
export function unixTimeMs(): number {
  return Date.now()
}

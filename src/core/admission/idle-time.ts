/** How long each endpoint has had nothing to do while somebody waited at the router. */

interface Idle {
  accruedMs: number
  /** Since when it is idle; null while it works. */
  sinceMs: number | null
}

export class IdleTime {
  readonly #slots = new Map<number, Idle>()
  #waiting = false

  /** Whether somebody waits from now on. Where nobody does, idleness is nobody's loss. */
  waiting(somebody: boolean): void {
    if (!somebody) this.#slots.clear()
    this.#waiting = somebody
  }

  observe(slot: number, idle: boolean, nowMs: number): void {
    if (!this.#waiting) return
    const entry = this.#of(slot)
    if (entry.sinceMs !== null) entry.accruedMs += nowMs - entry.sinceMs
    entry.sinceMs = idle ? nowMs : null
  }

  /** Idle time there that nothing has been set against yet, ms. */
  accruedMs(slot: number, nowMs: number): number {
    const entry = this.#slots.get(slot)
    if (entry === undefined) return 0
    return entry.accruedMs + (entry.sinceMs === null ? 0 : nowMs - entry.sinceMs)
  }

  /** So much of it has been paid for by work. */
  spend(slot: number, ms: number): void {
    const entry = this.#slots.get(slot)
    if (entry !== undefined) entry.accruedMs = Math.max(0, entry.accruedMs - ms)
  }

  instanceGone(slot: number): void {
    this.#slots.delete(slot)
  }

  #of(slot: number): Idle {
    let entry = this.#slots.get(slot)
    if (entry === undefined) {
      entry = { accruedMs: 0, sinceMs: null }
      this.#slots.set(slot, entry)
    }
    return entry
  }
}

import type { Scheduler } from '../../src/base/scheduler.ts'

/** A clock that stands still until told to move, for tests of timeouts without waiting. */
export class ManualScheduler implements Scheduler {
  #nowMs = 1_000
  #due: { atMs: number; run: () => void }[] = []

  nowMs(): number {
    return this.#nowMs
  }

  at(atMs: number, run: () => void): () => void {
    const entry = { atMs, run }
    this.#due.push(entry)
    return () => {
      this.#due = this.#due.filter((other) => other !== entry)
    }
  }

  /** Moves on by `ms`, running what falls due on the way, each at its time. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms
    for (;;) {
      const next = this.#due
        .filter((entry) => entry.atMs <= untilMs)
        .sort((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined) break
      this.#due = this.#due.filter((entry) => entry !== next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.run()
    }
    this.#nowMs = untilMs
  }

  get pending(): number {
    return this.#due.length
  }
}

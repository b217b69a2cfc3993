import type { Scheduler } from '../../base/scheduler.ts'

/** An event stream's way of saying nothing. */
export const keepAliveComment: readonly Buffer[] = [Buffer.from(': waiting\n\n')]

/**
 * Calls `due` again and again until stopped. Intermediaries cut silent connections; a comment now
 * and then before the first token keeps them open (F127).
 */
export class SseKeepAlive {
  readonly #scheduler: Scheduler
  readonly #everyMs: number
  readonly #due: () => void
  #cancel: (() => void) | null = null

  /** @param everyMs 0 for never */
  constructor(scheduler: Scheduler, everyMs: number, due: () => void) {
    this.#scheduler = scheduler
    this.#everyMs = everyMs
    this.#due = due
    if (everyMs > 0) this.#arm()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #arm(): void {
    this.#cancel = this.#scheduler.at(this.#scheduler.nowMs() + this.#everyMs, () => {
      this.#arm()
      this.#due()
    })
  }
}

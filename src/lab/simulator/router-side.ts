import type { Scheduler } from '../../base/scheduler.ts'
import type { Decision } from '../../core/decisions.ts'
import type { RouterEvent } from '../../core/events.ts'
import type { Router } from '../../core/router.ts'

/** One router, what it decides, and the wake-up that it asked for. */
export class RouterSide {
  readonly router: Router
  readonly #scheduler: Scheduler
  readonly #decided: (decision: Decision, atMs: number) => void
  #cancelWake: (() => void) | null = null

  constructor(
    router: Router,
    scheduler: Scheduler,
    decided: (decision: Decision, atMs: number) => void,
  ) {
    this.router = router
    this.#scheduler = scheduler
    this.#decided = decided
  }

  tell(event: RouterEvent): void {
    for (const decision of this.router.handle(event)) {
      this.#decided(decision, event.atMs)
      if (decision.type === 'wake') this.#wakeAt(decision.atMs)
    }
  }

  #wakeAt(atMs: number): void {
    this.#cancelWake?.()
    this.#cancelWake = this.#scheduler.at(atMs, () => {
      this.#cancelWake = null
      this.tell({ type: 'timer-due', atMs: this.#scheduler.nowMs() })
    })
  }
}

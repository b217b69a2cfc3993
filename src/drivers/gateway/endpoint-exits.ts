import type { Scheduler } from '../../base/scheduler.ts'
import type { EndpointKey } from '../../core/events.ts'
import type { OpenExchange } from './open-exchange.ts'

interface Exit {
  /** Still at work there. */
  readonly open: Set<OpenExchange>
  readonly gone: () => void
  readonly cancelDeadline: () => void
}

/** Endpoints that were taken out and finish what they had, for so long at most. */
export class EndpointExits {
  readonly #scheduler: Scheduler
  readonly #exits = new Map<EndpointKey, Exit>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  has(endpoint: EndpointKey): boolean {
    return this.#exits.has(endpoint)
  }

  /**
   * @param open what was sent there and is not over; nothing may be added later
   * @param gone called once, when all of it is over
   */
  begin(
    endpoint: EndpointKey,
    open: Iterable<OpenExchange>,
    withinMs: number,
    gone: () => void,
  ): void {
    const cancelDeadline = this.#scheduler.at(this.#scheduler.nowMs() + withinMs, () => {
      for (const exchange of [...exit.open]) exchange.endpointRemoved()
    })
    const exit: Exit = { open: new Set(open), gone, cancelDeadline }
    this.#exits.set(endpoint, exit)
    if (exit.open.size === 0) this.#end(endpoint, exit)
  }

  /** The request is over, or went elsewhere. */
  left(endpoint: EndpointKey | null, exchange: OpenExchange): void {
    if (this.#exits.size === 0 || endpoint === null) return
    const exit = this.#exits.get(endpoint)
    if (exit?.open.delete(exchange) && exit.open.size === 0) this.#end(endpoint, exit)
  }

  /** The endpoint stays after all. False where it was not on its way out. */
  cancel(endpoint: EndpointKey): boolean {
    this.#exits.get(endpoint)?.cancelDeadline()
    return this.#exits.delete(endpoint)
  }

  stop(): void {
    for (const endpoint of [...this.#exits.keys()]) this.cancel(endpoint)
  }

  #end(endpoint: EndpointKey, exit: Exit): void {
    this.cancel(endpoint)
    exit.gone()
  }
}

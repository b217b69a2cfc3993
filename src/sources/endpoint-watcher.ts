import type { EndpointKey } from '../core/events.ts'
import { limits } from '../core/limits.ts'
import { EndpointWatch } from './endpoint-watch.ts'
import { FetchGate } from './fetch-gate.ts'
import type { WatchDependencies, WatchTarget } from './watch-options.ts'

/**
 * Scrapes and descriptions that run at once over all endpoints. Health probes are not among them,
 * one per endpoint at most: a few endpoints that hang must not delay the news of the others.
 */
const scrapesRunningMax = 64

/** Watches the endpoints of a router. Adding and removing is all that it needs to be told. */
export class EndpointWatcher {
  readonly #dependencies: WatchDependencies
  readonly #gate = new FetchGate(scrapesRunningMax)
  readonly #watches = new Map<EndpointKey, EndpointWatch>()

  constructor(dependencies: WatchDependencies) {
    this.#dependencies = dependencies
  }

  get size(): number {
    return this.#watches.size
  }

  /** Starts to watch; an endpoint that is watched already is watched anew, as now declared. */
  add(target: WatchTarget): void {
    this.remove(target.endpoint)
    if (this.#watches.size >= limits.endpointsMax) return
    const watch = new EndpointWatch(target, this.#dependencies, this.#gate)
    this.#watches.set(target.endpoint, watch)
  }

  /** Ends all that runs for the endpoint; nothing is told of it any more. */
  remove(endpoint: EndpointKey): void {
    this.#watches.get(endpoint)?.stop()
    this.#watches.delete(endpoint)
  }

  /** Asks for the endpoint's health at once, because a request to it was refused or broken. */
  probeSoon(endpoint: EndpointKey): void {
    this.#watches.get(endpoint)?.probeSoon()
  }

  stop(): void {
    for (const endpoint of [...this.#watches.keys()]) this.remove(endpoint)
  }
}

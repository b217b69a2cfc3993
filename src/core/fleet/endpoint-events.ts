/** What happens to the fleet when something is learned of an endpoint. */
import type { RouterEvent } from '../events.ts'
import type { Learning } from '../learning.ts'
import type { RouterCounters } from '../router-counters.ts'
import type { EndpointDescription } from './endpoint.ts'
import type { EndpointState } from './endpoint-state.ts'
import type { Fleet } from './fleet.ts'

type EndpointEvent = Extract<RouterEvent, { readonly endpoint: unknown }>

export class EndpointEvents {
  readonly #fleet: Fleet
  readonly #learning: Learning
  readonly #instanceGone: (endpoint: EndpointState) => void
  readonly #counters: RouterCounters

  constructor(
    fleet: Fleet,
    learning: Learning,
    instanceGone: (endpoint: EndpointState) => void,
    counters: RouterCounters,
  ) {
    this.#fleet = fleet
    this.#learning = learning
    this.#instanceGone = instanceGone
    this.#counters = counters
  }

  handle(event: EndpointEvent): void {
    if (event.type === 'endpoint-joined') {
      const joined = this.#fleet.join(event.endpoint, event.description)
      if (joined !== null) this.#learning.joined(joined)
      return
    }
    const endpoint = this.#fleet.get(event.endpoint)
    // Something may still be on its way for an endpoint that has left.
    if (endpoint === undefined) return
    switch (event.type) {
      case 'endpoint-left':
        this.#left(endpoint)
        break
      case 'endpoint-described':
        this.#described(endpoint, event.description)
        break
      case 'endpoint-probed':
        endpoint.health.probed(event.atMs, event.healthy, event.reason)
        break
      case 'endpoint-observed':
        if (event.signals !== null) endpoint.observe(event.atMs, event.signals)
        break
      case 'endpoint-draining':
        endpoint.health.draining = event.draining
        break
    }
  }

  #left(endpoint: EndpointState): void {
    this.#fleet.leave(endpoint.key)
    this.#instanceGone(endpoint)
    this.#learning.left(endpoint)
  }

  #described(endpoint: EndpointState, description: EndpointDescription): void {
    const before = endpoint.description.instanceId
    const now = description.instanceId
    endpoint.describe(description)
    if (before !== undefined && now !== undefined && before !== now) {
      this.#instanceGone(endpoint)
      this.#fleet.restart(endpoint)
      this.#counters.restarts++
      this.#learning.restarted(endpoint)
    } else {
      this.#learning.resized(endpoint)
    }
  }
}

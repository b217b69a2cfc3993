import type { EndpointKey, RouterEvent } from '../../core/events.ts'
import type { EndpointDescription } from '../../core/fleet/endpoint.ts'

export type EndpointEvent = Extract<RouterEvent, { readonly endpoint: EndpointKey }>

interface Known {
  description: EndpointDescription
  probed: Extract<EndpointEvent, { readonly type: 'endpoint-probed' }> | null
  draining: boolean
}

/** What was told of each endpoint, in short: enough to tell it to a new core. */
export class FleetMemory {
  readonly #endpoints = new Map<EndpointKey, Known>()

  told(event: EndpointEvent): void {
    if (event.type === 'endpoint-joined') {
      const { description } = event
      this.#endpoints.set(event.endpoint, { description, probed: null, draining: false })
    } else if (event.type === 'endpoint-left') {
      this.#endpoints.delete(event.endpoint)
    }
    const known = this.#endpoints.get(event.endpoint)
    if (known === undefined) return
    if (event.type === 'endpoint-described') {
      known.description = { ...known.description, ...event.description }
    } else if (event.type === 'endpoint-probed') {
      known.probed = event
    } else if (event.type === 'endpoint-draining') {
      known.draining = event.draining
    }
  }

  /** The same again, as of now. */
  *events(atMs: number): Iterable<EndpointEvent> {
    for (const [endpoint, { description, probed, draining }] of this.#endpoints) {
      yield { type: 'endpoint-joined', atMs, endpoint, description }
      if (probed !== null) yield { ...probed, atMs }
      if (draining) yield { type: 'endpoint-draining', atMs, endpoint, draining }
    }
  }
}

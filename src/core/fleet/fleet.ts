/** The endpoints: who is there, what they serve, and who may be chosen. */

import type { EndpointKey } from '../events.ts'
import { limits } from '../limits.ts'
import type { EndpointDescription } from './endpoint.ts'
import { EndpointState } from './endpoint-state.ts'

/** Endpoints that serve a model, split by whether they may be chosen now. */
export interface Pool {
  readonly available: readonly EndpointState[]
  readonly excluded: readonly { readonly endpoint: EndpointKey; readonly reason: string }[]
  /** Endpoints that serve the model at all. */
  readonly size: number
  /** True when every endpoint was softly unavailable and the least bad are used all the same. */
  readonly lastResort: boolean
}

export class Fleet {
  readonly #endpoints = new Map<EndpointKey, EndpointState>()
  #nextSlot = 0

  get size(): number {
    return this.#endpoints.size
  }

  get(key: EndpointKey): EndpointState | undefined {
    return this.#endpoints.get(key)
  }

  values(): IterableIterator<EndpointState> {
    return this.#endpoints.values()
  }

  /** Adds an endpoint; null when it is there already or the fleet is as large as it may be. */
  join(key: EndpointKey, description: EndpointDescription): EndpointState | null {
    if (this.#endpoints.has(key) || this.#endpoints.size >= limits.endpointsMax) return null
    const endpoint = new EndpointState(key, this.#nextSlot++, description)
    this.#endpoints.set(key, endpoint)
    return endpoint
  }

  leave(key: EndpointKey): EndpointState | null {
    const endpoint = this.#endpoints.get(key)
    if (endpoint === undefined) return null
    this.#endpoints.delete(key)
    return endpoint
  }

  /** A new process answers at the endpoint's address. */
  restart(endpoint: EndpointState): void {
    endpoint.restart(this.#nextSlot++)
  }

  /**
   * Who may serve the model now. Softly unavailable endpoints are used only where no other is
   * left, so that a wrong verdict never empties a pool.
   */
  pool(model: string | null, nowMs: number, pinnedTo: EndpointKey | null): Pool {
    const available: EndpointState[] = []
    const soft: EndpointState[] = []
    const excluded: { endpoint: EndpointKey; reason: string }[] = []
    let size = 0
    for (const endpoint of this.#endpoints.values()) {
      if (!endpoint.serves(model)) continue
      if (pinnedTo !== null && endpoint.key !== pinnedTo) continue
      size++
      const { verdict, reason } = endpoint.health.availability(nowMs)
      if (verdict === 'yes') {
        available.push(endpoint)
        continue
      }
      if (verdict === 'soft') soft.push(endpoint)
      excluded.push({ endpoint: endpoint.key, reason })
    }
    if (available.length > 0 || soft.length === 0) {
      return { available, excluded, size, lastResort: false }
    }
    const used = new Set(soft.map((endpoint) => endpoint.key))
    const stillExcluded = excluded.filter((one) => !used.has(one.endpoint))
    return { available: soft, excluded: stillExcluded, size, lastResort: true }
  }

  /** Every model that some endpoint serves, sorted; for the answer to an unknown one. */
  models(): string[] {
    const ids = new Set<string>()
    for (const endpoint of this.#endpoints.values()) {
      for (const model of endpoint.models ?? []) ids.add(model)
    }
    return [...ids].sort()
  }

  /** Whether any endpoint may serve the model, available or not. */
  knows(model: string | null): boolean {
    for (const endpoint of this.#endpoints.values()) if (endpoint.serves(model)) return true
    return false
  }
}

import type { EndpointKey } from '../../core/events.ts'

/** Stored responses whose owner is remembered; the one longest unused is forgotten first. */
const ownersMax = 100_000

/** Which endpoint stored which response: only that one can continue or return it (F088). */
export class ResponseOwners {
  readonly #max: number
  readonly #owners = new Map<string, EndpointKey>()

  constructor(max: number = ownersMax) {
    this.#max = max
  }

  get size(): number {
    return this.#owners.size
  }

  remember(responseId: string, endpoint: EndpointKey): void {
    this.#owners.delete(responseId)
    this.#owners.set(responseId, endpoint)
    if (this.#owners.size <= this.#max) return
    for (const oldest of this.#owners.keys()) {
      this.#owners.delete(oldest)
      return
    }
  }

  /** What the endpoint stored is gone with it. */
  forget(endpoint: EndpointKey): void {
    for (const [id, owner] of this.#owners) if (owner === endpoint) this.#owners.delete(id)
  }

  ownerOf(responseId: string): EndpointKey | null {
    const owner = this.#owners.get(responseId)
    if (owner === undefined) return null
    this.remember(responseId, owner)
    return owner
  }
}

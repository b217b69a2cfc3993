/** Who holds a place where: sessions and the memory that their contexts take on one instance. */
import { assert } from '../../base/assert.ts'

export interface Place {
  readonly sessionId: string
  readonly slot: number
  footprintTokens: number
  inFlight: number
  /** Whether it is kept while the session rests. */
  keeps: boolean
  /** Since when nothing of the session runs; null while something does. */
  idleSinceMs: number | null
}

export class Places {
  readonly #bySession = new Map<string, Place>()
  readonly #bySlot = new Map<number, { tokens: number; places: Set<Place> }>()

  get size(): number {
    return this.#bySession.size
  }

  of(sessionId: string): Place | undefined {
    return this.#bySession.get(sessionId)
  }

  /** Memory promised on an instance. */
  tokens(slot: number): number {
    return this.#bySlot.get(slot)?.tokens ?? 0
  }

  /** Places of sessions at rest there, the longest idle first. */
  idle(slot: number): Place[] {
    const idle = [...(this.#bySlot.get(slot)?.places ?? [])].filter((one) => one.inFlight === 0)
    return idle.sort((a, b) => a.idleSinceMs! - b.idleSinceMs!)
  }

  give(sessionId: string, slot: number, footprintTokens: number): Place {
    assert(!this.#bySession.has(sessionId), `session ${sessionId} has a place already`)
    const place: Place = {
      sessionId,
      slot,
      footprintTokens,
      inFlight: 0,
      keeps: true,
      idleSinceMs: null,
    }
    this.#bySession.set(sessionId, place)
    const there = this.#bySlot.get(slot) ?? { tokens: 0, places: new Set<Place>() }
    this.#bySlot.set(slot, there)
    there.places.add(place)
    there.tokens += footprintTokens
    return place
  }

  resize(place: Place, footprintTokens: number): void {
    this.#bySlot.get(place.slot)!.tokens += footprintTokens - place.footprintTokens
    place.footprintTokens = footprintTokens
  }

  take(place: Place): void {
    this.#bySession.delete(place.sessionId)
    const there = this.#bySlot.get(place.slot)!
    there.places.delete(place)
    there.tokens -= place.footprintTokens
    if (there.places.size === 0) there.tokens = 0
  }

  instanceGone(slot: number): void {
    for (const place of this.#bySlot.get(slot)?.places ?? [])
      this.#bySession.delete(place.sessionId)
    this.#bySlot.delete(slot)
  }
}

/** Endpoints kept free for those who wait long: who needs much room is not passed for ever. */

interface Waiting {
  readonly sinceMs: number
  slot: number | null
}

export class Reservations {
  /** Longer than this, and an endpoint is kept for who waits. */
  readonly #patienceMs: number
  readonly #waiting = new Map<string, Waiting>()
  readonly #bySlot = new Map<number, string>()

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  waits(requestId: string, nowMs: number): void {
    this.#waiting.set(requestId, { sinceMs: nowMs, slot: null })
  }

  left(requestId: string): void {
    const waiting = this.#waiting.get(requestId)
    if (waiting === undefined) return
    this.#waiting.delete(requestId)
    if (waiting.slot !== null) this.#bySlot.delete(waiting.slot)
  }

  /** Whether the endpoint is kept for somebody else. */
  isKept(slot: number, requestId: string): boolean {
    const keptFor = this.#bySlot.get(slot)
    return keptFor !== undefined && keptFor !== requestId
  }

  /** Keeps the endpoint for a request, if that has waited long and has none yet. */
  keep(slot: number, requestId: string, nowMs: number): void {
    const waiting = this.#waiting.get(requestId)
    if (waiting === undefined || waiting.slot !== null || this.#bySlot.has(slot)) return
    if (nowMs - waiting.sinceMs < this.#patienceMs) return
    waiting.slot = slot
    this.#bySlot.set(slot, requestId)
  }

  instanceGone(slot: number): void {
    const requestId = this.#bySlot.get(slot)
    if (requestId === undefined) return
    this.#bySlot.delete(slot)
    this.#waiting.get(requestId)!.slot = null
  }
}

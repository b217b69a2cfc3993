/** Endpoints kept free for those who wait long: who needs much room is not passed for ever. */

interface Waiting {
  readonly requestId: string
  readonly sinceMs: number
  /** Whoever has a smaller one goes first, and is kept out by nobody behind it. */
  readonly order: number
  slot: number | null
}

export class Reservations {
  /** Longer than this, and an endpoint is kept for who waits. */
  readonly #patienceMs: number
  readonly #waiting = new Map<string, Waiting>()
  readonly #bySlot = new Map<number, Waiting>()

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  waits(requestId: string, order: number, nowMs: number): void {
    this.#waiting.set(requestId, { requestId, sinceMs: nowMs, order, slot: null })
  }

  left(requestId: string): void {
    const waiting = this.#waiting.get(requestId)
    if (waiting === undefined) return
    this.#waiting.delete(requestId)
    if (waiting.slot !== null) this.#bySlot.delete(waiting.slot)
  }

  /** Whether the endpoint is kept for somebody who goes before. */
  isKept(slot: number, requestId: string, order: number): boolean {
    const keptFor = this.#bySlot.get(slot)
    return keptFor !== undefined && keptFor.requestId !== requestId && keptFor.order <= order
  }

  /** Keeps the endpoint for a request, if that has waited long and has none yet. */
  keep(slot: number, requestId: string, nowMs: number): void {
    const waiting = this.#waiting.get(requestId)
    if (waiting === undefined || waiting.slot !== null) return
    if (nowMs - waiting.sinceMs < this.#patienceMs) return
    const before = this.#bySlot.get(slot)
    if (before !== undefined && before.order <= waiting.order) return
    if (before !== undefined) before.slot = null
    waiting.slot = slot
    this.#bySlot.set(slot, waiting)
  }

  instanceGone(slot: number): void {
    const waiting = this.#bySlot.get(slot)
    if (waiting === undefined) return
    this.#bySlot.delete(slot)
    waiting.slot = null
  }
}

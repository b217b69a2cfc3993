/** Requests that wait at the router, in the order in which they will be looked at. */
import { assert } from '../../base/assert.ts'

export interface Held<Request> {
  readonly request: Request
  readonly requestId: string
  readonly order: number
  readonly sinceMs: number
  readonly deadlineMs: number
  readonly reason: string
}

/** Sorted by `order`, then by the time at which each began to wait. */
export class HoldQueue<Request> {
  readonly #sorted: Held<Request>[] = []
  readonly #byId = new Map<string, Held<Request>>()

  get size(): number {
    return this.#sorted.length
  }

  has(requestId: string): boolean {
    return this.#byId.has(requestId)
  }

  add(held: Held<Request>): void {
    assert(!this.#byId.has(held.requestId), `request ${held.requestId} is held twice`)
    this.#byId.set(held.requestId, held)
    this.#sorted.splice(this.#placeAfter(held.order), 0, held)
  }

  /** Takes it out; undefined where it does not wait. */
  remove(requestId: string): Held<Request> | undefined {
    const held = this.#byId.get(requestId)
    if (held === undefined) return undefined
    this.#byId.delete(requestId)
    this.#sorted.splice(this.#sorted.indexOf(held), 1)
    return held
  }

  /** The first `count`, as of now. */
  first(count: number): readonly Held<Request>[] {
    return this.#sorted.slice(0, count)
  }

  /** The `count` that have waited longest. */
  longest(count: number): readonly Held<Request>[] {
    return [...this.#byId.values()].slice(0, count)
  }

  /** Those whose time is up. All wait equally long at most, so who came first is due first. */
  overdue(nowMs: number): readonly Held<Request>[] {
    const due: Held<Request>[] = []
    for (const held of this.#byId.values()) {
      if (held.deadlineMs > nowMs) break
      due.push(held)
    }
    return due
  }

  /** The earliest deadline; infinite where nobody waits. */
  get nextDeadlineMs(): number {
    for (const { deadlineMs } of this.#byId.values()) return deadlineMs
    return Number.POSITIVE_INFINITY
  }

  #placeAfter(order: number): number {
    let low = 0
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#sorted[middle]!.order <= order) low = middle + 1
      else high = middle
    }
    return low
  }
}

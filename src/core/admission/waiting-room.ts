/** Where held requests are, until they start, are refused, or their client leaves. */
import type { Hold, Refuse } from '../decisions.ts'
import { limits } from '../limits.ts'
import type { OpenRequest } from '../open-request.ts'
import type { Admission } from './admission.ts'
import { type Held, HoldQueue } from './hold-queue.ts'

/** Weight of the newest start in the average time between two. */
const paceGain = 0.2

export class WaitingRoom {
  readonly admission: Admission
  readonly #queue = new HoldQueue<OpenRequest>()
  /** The longest that a request waits, ms. */
  readonly #holdMsMax: number
  #lastStartMs: number | null = null
  /** Average time between the starts of two held requests; null before there were two. */
  #paceMs: number | null = null

  constructor(admission: Admission, holdMsMax: number) {
    this.admission = admission
    this.#holdMsMax = holdMsMax
  }

  get size(): number {
    return this.#queue.size
  }

  has(requestId: string): boolean {
    return this.#queue.has(requestId)
  }

  /** @returns the hold, or why there is no place even to wait */
  enter(request: OpenRequest, reason: string, nowMs: number): Hold | Refuse {
    const { requestId } = request.arrived
    if (this.#queue.size >= limits.heldRequestsMax) {
      return this.#refuse(request, `${this.#queue.size} requests wait already`)
    }
    const deadlineMs = nowMs + this.#holdMsMax
    const order = this.admission.order(request)
    this.#queue.add({ request, requestId, order, sinceMs: nowMs, deadlineMs, reason })
    this.admission.held(request, nowMs)
    this.admission.waiting(this.#queue.size, nowMs)
    return { type: 'hold', requestId, reason, deadlineMs }
  }

  /** Those that have waited longest. */
  longest(count: number): readonly Held<OpenRequest>[] {
    return this.#queue.longest(count)
  }

  /** Those to look at when something may have become free. */
  front(): readonly Held<OpenRequest>[] {
    return this.#queue.first(limits.heldLookAhead)
  }

  /** It starts now. */
  starts(requestId: string, nowMs: number): void {
    this.leave(requestId, nowMs)
    if (this.#lastStartMs !== null) {
      const sinceMs = nowMs - this.#lastStartMs
      this.#paceMs =
        this.#paceMs === null ? sinceMs : this.#paceMs + paceGain * (sinceMs - this.#paceMs)
    }
    this.#lastStartMs = nowMs
  }

  /** It waits no longer, for whatever reason. */
  leave(requestId: string, nowMs: number): OpenRequest | undefined {
    const held = this.#queue.remove(requestId)
    if (held === undefined) return undefined
    this.admission.left(held.request)
    this.admission.waiting(this.#queue.size, nowMs)
    return held.request
  }

  /** Takes out those who have waited as long as they may. */
  expire(nowMs: number): { readonly request: OpenRequest; readonly refuse: Refuse }[] {
    return this.#queue.overdue(nowMs).map(({ request, sinceMs, requestId, reason }) => {
      this.leave(requestId, nowMs)
      const waited = `waited ${Math.round((nowMs - sinceMs) / 1_000)} s: ${reason}`
      return { request, refuse: this.#refuse(request, waited) }
    })
  }

  /** When the first of them will have waited as long as it may; infinite where nobody waits. */
  get nextDeadlineMs(): number {
    return this.#queue.nextDeadlineMs
  }

  #refuse(request: OpenRequest, why: string): Refuse {
    return {
      type: 'refuse',
      requestId: request.arrived.requestId,
      code: 'fleet_full',
      message: `The fleet is full (${why}). Retry later: the session keeps its turn.`,
      retryAfterMs: this.#turnInMs(),
    }
  }

  /** When a newcomer's turn would come at the pace of late, within bounds. */
  #turnInMs(): number {
    const inMs = (this.#queue.size + 1) * (this.#paceMs ?? this.#holdMsMax)
    return Math.min(Math.max(inMs, 1_000), Math.min(this.#holdMsMax, 600_000))
  }
}

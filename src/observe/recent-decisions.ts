import type { Dispatch, Hold, Refuse } from '../core/decisions.ts'
import type { AttemptFailed, Outcome, Phase, RequestArrived, Usage } from '../core/events.ts'
import type { Measured } from './decision-log.ts'

type Explained = Dispatch | Hold | Refuse

/** Everything that was decided about one request, as `/debug/decisions/ID` answers. */
export interface ExplainedRequest {
  readonly requestId: string
  readonly arrivedAtMs: number
  readonly model: string | null
  readonly tenant: string
  readonly priorityClass: string
  readonly promptBytes: number
  readonly streaming: boolean
  readonly steps: readonly ExplainedStep[]
  /** Null while it runs. */
  readonly end: ExplainedEnd | null
}

export interface ExplainedStep {
  readonly atMs: number
  readonly what:
    | Explained
    | { readonly type: 'failed'; readonly phase: Phase; readonly cause: string }
}

export interface ExplainedEnd extends Measured {
  readonly atMs: number
  readonly outcome: Outcome
  readonly phase: Phase
  readonly cause: string
  readonly usage: Usage
}

/** Holds, attempts and their failures; a request that is held and released often keeps its last. */
const stepsMax = 16

interface Entry extends ExplainedRequest {
  readonly steps: ExplainedStep[]
  end: ExplainedEnd | null
}

/** The last requests, by id; the one that arrived first is forgotten first. */
export class RecentDecisions {
  readonly #ring: Entry[] = []
  /** Places in the ring: numbers, so that the map's outgrown tables hold no requests. */
  readonly #places = new Map<string, number>()
  readonly #capacity: number
  #next = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#places.size
  }

  find(requestId: string): ExplainedRequest | null {
    return this.#entry(requestId) ?? null
  }

  arrived(event: RequestArrived): void {
    const { requestId, atMs, model, tenant, priorityClass, promptBytes, streaming } = event
    const place = this.#next
    this.#next = (place + 1) % this.#capacity
    const oldest = this.#ring[place]
    if (oldest !== undefined) this.#places.delete(oldest.requestId)
    this.#places.set(requestId, place)
    this.#ring[place] = {
      requestId,
      arrivedAtMs: atMs,
      model,
      tenant,
      priorityClass,
      promptBytes,
      streaming,
      steps: [],
      end: null,
    }
  }

  decided(atMs: number, decision: Explained): void {
    this.#step(decision.requestId, { atMs, what: decision })
  }

  attemptFailed(event: AttemptFailed): void {
    const { atMs, phase, cause } = event
    this.#step(event.requestId, { atMs, what: { type: 'failed', phase, cause } })
  }

  ended(requestId: string, end: ExplainedEnd): void {
    const request = this.#entry(requestId)
    if (request !== undefined) request.end = end
  }

  #step(requestId: string, step: ExplainedStep): void {
    const steps = this.#entry(requestId)?.steps
    if (steps === undefined) return
    if (steps.length >= stepsMax) steps.shift()
    steps.push(step)
  }

  #entry(requestId: string): Entry | undefined {
    const place = this.#places.get(requestId)
    return place === undefined ? undefined : this.#ring[place]
  }
}

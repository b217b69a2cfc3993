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

/** The last requests, by id; the one that arrived first is forgotten first. */
export class RecentDecisions {
  readonly #capacity: number
  readonly #requests = new Map<string, ExplainedRequest>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#requests.size
  }

  find(requestId: string): ExplainedRequest | null {
    return this.#requests.get(requestId) ?? null
  }

  arrived(event: RequestArrived): void {
    this.#requests.set(event.requestId, {
      requestId: event.requestId,
      arrivedAtMs: event.atMs,
      model: event.model,
      tenant: event.tenant,
      priorityClass: event.priorityClass,
      promptBytes: event.promptBytes,
      streaming: event.streaming,
      steps: [],
      end: null,
    })
    if (this.#requests.size <= this.#capacity) return
    for (const oldest of this.#requests.keys()) {
      this.#requests.delete(oldest)
      return
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
    const request = this.#requests.get(requestId)
    if (request !== undefined) this.#requests.set(requestId, { ...request, end })
  }

  #step(requestId: string, step: ExplainedStep): void {
    const request = this.#requests.get(requestId)
    if (request === undefined) return
    const steps = [...request.steps.slice(1 - stepsMax), step]
    this.#requests.set(requestId, { ...request, steps })
  }
}

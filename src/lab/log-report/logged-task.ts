import type { CallPhases, LoggedCall } from './logged-call.ts'

/** What the calls of a task did when, and what passed between them. */
export interface TaskPhases extends CallPhases {
  /** No call was open: a tool ran, or a person thought. */
  readonly tool: number
}

export const taskKinds = ['held', 'queue', 'prefill', 'decode', 'unanswered', 'tool'] as const

export interface TaskFigures {
  readonly session: string
  readonly tenant: string
  readonly model: string
  /** Wall-clock time, ISO 8601. */
  readonly startedAt: string
  /** From its first arrival to its last end. */
  readonly taskMs: number
  readonly calls: number
  /** Whether its last call was answered. */
  readonly completed: boolean
  readonly phases: TaskPhases
  /** Of its first calls: kind, and ms since the task began. */
  readonly spans: readonly TaskSpan[]
}

export interface TaskSpan {
  readonly kind: (typeof taskKinds)[number]
  readonly from: number
  readonly to: number
}

/** Calls of one task that are kept for drawing; numbers of a call. */
const drawnCallsMax = 200

/** A session's calls until it falls silent for long. */
export class LoggedTask {
  readonly session: string
  readonly tenant: string
  readonly model: string
  readonly startMs: number
  lastMs: number
  calls = 0
  #completed = false
  readonly #phases = { held: 0, queue: 0, prefill: 0, decode: 0, unanswered: 0, tool: 0 }
  /** Up to the drawn ones: arrival since the start, and the phases. */
  readonly #drawn: number[] = []

  constructor(call: LoggedCall) {
    this.session = call.session!
    this.tenant = call.tenant
    this.model = call.model
    this.startMs = call.arrivedMs
    this.lastMs = call.arrivedMs
  }

  add(call: LoggedCall): void {
    const phases = this.#phases
    phases.tool += Math.max(0, call.arrivedMs - this.lastMs)
    const { held, queue, prefill, decode, unanswered } = call.phases
    phases.held += held
    phases.queue += queue
    phases.prefill += prefill
    phases.decode += decode
    phases.unanswered += unanswered
    if (this.calls < drawnCallsMax) {
      this.#drawn.push(call.arrivedMs - this.startMs, held, queue, prefill, decode, unanswered)
    }
    this.calls++
    this.lastMs = Math.max(this.lastMs, call.endedMs)
    this.#completed = call.outcome === 'done'
  }

  get taskMs(): number {
    return this.lastMs - this.startMs
  }

  get completed(): boolean {
    return this.#completed
  }

  get phases(): TaskPhases {
    return this.#phases
  }

  figures(): TaskFigures {
    const { session, tenant, model, startMs, taskMs, calls, completed } = this
    const startedAt = new Date(startMs).toISOString()
    const phases = { ...this.#phases }
    const spans = this.#spans()
    return { session, tenant, model, startedAt, taskMs, calls, completed, phases, spans }
  }

  #spans(): TaskSpan[] {
    const spans: TaskSpan[] = []
    const kinds = ['held', 'queue', 'prefill', 'decode', 'unanswered'] as const
    let lastEnd = 0
    for (let at = 0; at < this.#drawn.length; at += 6) {
      let from = this.#drawn[at]!
      if (from > lastEnd) spans.push({ kind: 'tool', from: lastEnd, to: from })
      for (const [i, kind] of kinds.entries()) {
        const to = from + this.#drawn[at + 1 + i]!
        if (to > from) spans.push({ kind, from, to })
        from = to
      }
      lastEnd = Math.max(lastEnd, from)
    }
    return spans
  }
}

/** The clients' side: sessions that begin, send turn after turn, and end. */
import type { Scheduler } from '../../base/scheduler.ts'
import type { Turn, Workload, WorkloadSession } from '../workload/session.ts'
import type { SimulatedRequest, SimulatedSession } from './request-record.ts'
import { SeenPrefixes } from './seen-prefixes.ts'

/** One request from its client's point of view. */
export interface Call {
  readonly requestId: string
  readonly session: WorkloadSession
  readonly index: number
  readonly turn: Turn
  readonly record: SimulatedRequest
  readonly task: SimulatedSession
}

export class Clients {
  readonly requests: SimulatedRequest[] = []
  readonly sessions: SimulatedSession[] = []
  readonly #scheduler: Scheduler
  readonly #workload: Workload
  readonly #send: (call: Call) => void
  readonly #seen: SeenPrefixes
  /** The next session of the workload that waits for another to end. */
  #next: number
  #open = 0

  constructor(workload: Workload, scheduler: Scheduler, send: (call: Call) => void) {
    this.#workload = workload
    this.#seen = new SeenPrefixes(workload.blockTokens)
    this.#scheduler = scheduler
    this.#send = send
    this.#next = Math.min(workload.sessionsAtOnce ?? Infinity, workload.sessions.length)
  }

  /** Sessions submitted or to come. */
  get open(): number {
    return this.#open
  }

  start(): void {
    for (let i = 0; i < this.#next; i++) this.#submit(this.#workload.sessions[i]!)
  }

  /** The answer is whole: the session's next turn follows, or its end. */
  answered(call: Call): void {
    const { session, index, turn, task } = call
    this.#seen.add(turn.chain, turn.promptTokens + turn.outputTokens)
    const following = session.turns[index + 1]
    if (following === undefined) {
      task.completed = true
      this.#ended(task)
      return
    }
    const atMs = this.#scheduler.nowMs() + following.gapMs
    this.#scheduler.at(atMs, () => this.#call(session, index + 1, task))
  }

  /** Without an answer the client has nothing to go on with. */
  gaveUp({ task }: Call): void {
    this.#ended(task)
  }

  #submit(session: WorkloadSession): void {
    if (session.turns.length === 0) return
    this.#open++
    this.#scheduler.at(session.startMs, () => {
      const { id, tenant, priorityClass } = session
      const submittedMs = this.#scheduler.nowMs()
      const task = { id, tenant, priorityClass, submittedMs, endedMs: null, completed: false }
      this.sessions.push(task)
      this.#call(session, 0, task)
    })
  }

  #call(session: WorkloadSession, index: number, task: SimulatedSession): void {
    const turn = session.turns[index]!
    const { promptTokens, outputTokens, chain } = turn
    const record: SimulatedRequest = {
      sessionId: session.id,
      turn: index,
      tenant: session.tenant,
      priorityClass: session.priorityClass,
      readyMs: this.#scheduler.nowMs(),
      promptTokens,
      outputTokens,
      reusableTokens: this.#seen.add(chain, promptTokens),
      endpoint: null,
      attempts: 0,
      dispatchedMs: null,
      firstTokenMs: null,
      finishedMs: null,
      cachedTokens: 0,
      predictedTtftMs: null,
      predictedCachedTokens: null,
      outcome: 'open',
      reason: null,
    }
    const requestId = `q${this.requests.length}`
    this.requests.push(record)
    this.#send({ requestId, session, index, turn, record, task })
  }

  #ended(task: SimulatedSession): void {
    task.endedMs = this.#scheduler.nowMs()
    this.#open--
    const next = this.#workload.sessions[this.#next++]
    if (next !== undefined) this.#submit(next)
  }
}

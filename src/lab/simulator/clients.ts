/** The clients' side: sessions that begin, send turn after turn, and end. */
import type { Scheduler } from '../../base/scheduler.ts'
import type { Turn, Workload, WorkloadSession } from '../workload/session.ts'
import type { SimulatedRequest, SimulatedSession } from './request-record.ts'
import { SeenPrefixes } from './seen-prefixes.ts'
import { Senders } from './senders.ts'

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
  readonly #senders: Senders | null
  readonly #tasks = new Map<WorkloadSession, SimulatedSession>()
  /** The next session of the workload that waits for another to end. */
  #next: number
  #open = 0

  constructor(workload: Workload, scheduler: Scheduler, send: (call: Call) => void) {
    this.#workload = workload
    this.#seen = new SeenPrefixes(workload.blockTokens)
    this.#scheduler = scheduler
    this.#send = send
    this.#senders =
      workload.senders === undefined
        ? null
        : new Senders(workload.senders, workload, scheduler, (session, turn) =>
            this.#call(session, turn, this.#taskOf(session)),
          )
    this.#next = Math.min(workload.sessionsAtOnce ?? Infinity, workload.sessions.length)
  }

  /** Sessions submitted or to come. */
  get open(): number {
    return this.#open
  }

  start(): void {
    if (this.#senders !== null) {
      this.#open = this.#workload.sessions.length
      this.#senders.start()
      return
    }
    for (let i = 0; i < this.#next; i++) this.#submit(this.#workload.sessions[i]!)
  }

  /** The answer is whole: the session's next turn follows, or its end. */
  answered(call: Call): void {
    const { session, index, turn, task } = call
    this.#seen.add(turn.chain, turn.promptTokens + turn.outputTokens)
    this.#senders?.answered(session)
    const following = session.turns[index + 1]
    if (following === undefined) {
      task.completed = true
      this.#ended(task)
      return
    }
    if (this.#senders !== null) return
    const atMs = this.#scheduler.nowMs() + following.gapMs
    this.#scheduler.at(atMs, () => this.#call(session, index + 1, task))
  }

  /** Without an answer the client has nothing to go on with. */
  gaveUp({ task, session }: Call): void {
    this.#senders?.gaveUp(session)
    this.#ended(task)
  }

  #submit(session: WorkloadSession): void {
    if (session.turns.length === 0) return
    this.#open++
    this.#scheduler.at(session.startMs, () => this.#call(session, 0, this.#taskOf(session)))
  }

  /** The session's task, which begins with its first call. */
  #taskOf(session: WorkloadSession): SimulatedSession {
    const known = this.#tasks.get(session)
    if (known !== undefined) return known
    const { id, tenant, priorityClass } = session
    const submittedMs = this.#scheduler.nowMs()
    const task = { id, tenant, priorityClass, submittedMs, endedMs: null, completed: false }
    this.sessions.push(task)
    this.#tasks.set(session, task)
    return task
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
    if (this.#senders !== null) return
    const next = this.#workload.sessions[this.#next++]
    if (next !== undefined) this.#submit(next)
  }
}

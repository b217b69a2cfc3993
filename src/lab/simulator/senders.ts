import type { Scheduler } from '../../base/scheduler.ts'
import type { Sender, SentTurn, Workload, WorkloadSession } from '../workload/session.ts'

/** One sender at work. */
interface Line {
  readonly turns: readonly SentTurn[]
  next: number
  free: number
}

/** A turn that has one of the sender's places. */
interface Taken {
  readonly line: Line
  readonly sent: SentTurn
}

/** The processes of a load generator, where sessions do not send their turns by themselves. */
export class Senders {
  readonly #lines: readonly Line[]
  readonly #sessions: readonly WorkloadSession[]
  readonly #scheduler: Scheduler
  readonly #send: (session: WorkloadSession, turn: number) => void
  /** The turn of each session that is under way, or rests. */
  readonly #busy = new Map<WorkloadSession, Taken>()
  /** Turns that wait for their session, each in its place. */
  readonly #waiting = new Map<WorkloadSession, Taken[]>()
  readonly #gone = new Set<WorkloadSession>()

  constructor(
    senders: readonly Sender[],
    { sessions }: Workload,
    scheduler: Scheduler,
    send: (session: WorkloadSession, turn: number) => void,
  ) {
    this.#lines = senders.map(({ turns, turnsAtOnce }) => ({ turns, next: 0, free: turnsAtOnce }))
    this.#sessions = sessions
    this.#scheduler = scheduler
    this.#send = send
  }

  start(): void {
    for (const line of this.#lines) this.#fill(line)
  }

  answered(session: WorkloadSession): void {
    const { restMs } = this.#busy.get(session)!.sent
    this.#scheduler.at(this.#scheduler.nowMs() + restMs, () => this.#free(session))
  }

  /** Nothing more is sent of the session. */
  gaveUp(session: WorkloadSession): void {
    this.#gone.add(session)
    this.#scheduler.at(this.#scheduler.nowMs(), () => this.#free(session))
  }

  #fill(line: Line): void {
    while (line.free > 0 && line.next < line.turns.length) {
      const sent = line.turns[line.next++]!
      line.free--
      this.#begin({ line, sent })
    }
  }

  #begin(taken: Taken): void {
    const session = this.#sessions[taken.sent.session]!
    if (this.#gone.has(session)) {
      taken.line.free++
      return
    }
    if (!this.#busy.has(session)) {
      this.#busy.set(session, taken)
      this.#send(session, taken.sent.turn)
      return
    }
    const waiting = this.#waiting.get(session)
    if (waiting === undefined) this.#waiting.set(session, [taken])
    else waiting.push(taken)
  }

  #free(session: WorkloadSession): void {
    const { line } = this.#busy.get(session)!
    this.#busy.delete(session)
    line.free++
    const waiting = this.#waiting.get(session) ?? []
    this.#waiting.delete(session)
    for (const taken of waiting) this.#begin(taken)
    this.#fill(line)
  }
}

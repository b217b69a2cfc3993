import { seededRandom } from '../../base/random.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import { arrivalGaps } from './arrivals.ts'
import { BenchCall } from './bench-call.ts'
import type { BenchSlo } from './bench-slo.ts'
import type { BenchTarget } from './bench-target.ts'
import type { BenchTask, TaskSource } from './bench-task.ts'
import type { CallRecord, TaskOutcome } from './call-record.ts'
import { OpenCallTrend } from './stability.ts'
import type { StagePlan } from './stage-load.ts'
import { StageTally } from './stage-tally.ts'

const lookMs = 100
/** In a closed loop, before the next task takes the place of one that failed. */
const pauseAfterFailureMs = 100

export interface StageRun {
  readonly tally: StageTally
  readonly trend: OpenCallTrend
  /** From the end of sending to the end of the last call. */
  readonly drainMs: number
}

interface Pause {
  readonly cancel: () => void
  readonly abort: () => void
}

/**
 * One stage against one target: tasks begin as the plan says and are timed from when they were to
 * begin. In an open loop nothing that the server does changes when that is.
 */
export class Stage {
  readonly tally: StageTally
  readonly #target: BenchTarget
  readonly #source: TaskSource
  readonly #plan: StagePlan
  readonly #scheduler: Scheduler
  readonly #trend = new OpenCallTrend()
  readonly #open = new Set<BenchCall>()
  /** Tasks between two calls. */
  readonly #pauses = new Set<Pause>()
  readonly #startMs: number
  readonly #fromMs: number
  readonly #toMs: number
  readonly #ended = Promise.withResolvers<void>()
  /** Tasks that have begun and are not over, pauses between calls included. */
  #tasks = 0
  #sending = true
  #aborted = false
  #sendingEndedMs = 0
  #cancelLook: () => void = () => {}
  #cancelSend: () => void = () => {}

  constructor(
    target: BenchTarget,
    source: TaskSource,
    plan: StagePlan,
    slo: BenchSlo,
    scheduler: Scheduler,
  ) {
    this.#target = target
    this.#source = source
    this.#plan = plan
    this.#scheduler = scheduler
    this.#startMs = scheduler.nowMs()
    this.#fromMs = this.#startMs + plan.warmUpMs
    this.#toMs = plan.durationMs === null ? Infinity : this.#fromMs + plan.durationMs
    this.tally = new StageTally(this.#startMs, { fromMs: this.#fromMs, toMs: this.#toMs }, slo)
  }

  /** @param signal ends the stage early: what is open then counts as timed out */
  async run(signal: AbortSignal): Promise<StageRun> {
    const stop = (): void => this.#stop()
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    this.#look()
    if (this.#sending) this.#begin()
    await this.#ended.promise
    signal.removeEventListener('abort', stop)
    this.#cancelLook()
    this.#cancelSend()
    const nowMs = this.#scheduler.nowMs()
    const drainMs = Math.max(0, nowMs - this.#sendingEndedMs)
    this.tally.end(nowMs)
    return { tally: this.tally, trend: this.#trend, drainMs }
  }

  #begin(): void {
    const { load, seed, durationMs } = this.#plan
    if (load.kind === 'at-once') {
      if (durationMs !== null) {
        this.#cancelSend = this.#scheduler.at(this.#toMs, () => this.#endSending(this.#toMs))
      }
      for (let i = 0; i < load.count; i++) this.#beginNext(this.#scheduler.nowMs())
      return
    }
    const gap = arrivalGaps(load.arrivals, load.perSecond, seededRandom(seed))
    this.#sendAt(this.#startMs + gap(), gap)
  }

  /** Begins every task that is due, then waits for the next: late ones are not left out. */
  #sendAt(firstDueMs: number, gap: () => number): void {
    let dueMs = firstDueMs
    const send = (): void => {
      const nowMs = this.#scheduler.nowMs()
      while (dueMs <= nowMs && dueMs < this.#toMs && this.#sending) {
        this.#beginNext(dueMs)
        dueMs += gap()
      }
      if (!this.#sending) return
      // The end comes behind the last that is due: a late process must not leave any out.
      this.#cancelSend =
        dueMs < this.#toMs
          ? this.#scheduler.at(dueMs, send)
          : this.#scheduler.at(this.#toMs, () => this.#endSending(this.#toMs))
    }
    this.#cancelSend = this.#scheduler.at(Math.min(dueMs, this.#toMs), send)
  }

  #beginNext(intendedMs: number): void {
    const task = this.#source.next()
    if (task === null) {
      this.#endSending(this.#scheduler.nowMs())
      return
    }
    this.#tasks++
    this.#turn(task, 0, intendedMs, intendedMs)
  }

  #turn(task: BenchTask, index: number, intendedMs: number, taskStartMs: number): void {
    const { tally } = this
    const nowMs = this.#scheduler.nowMs()
    if (tally.inFlight >= this.#target.inFlightMax) {
      tally.unsent(intendedMs, nowMs)
      this.#taskOver(taskStartMs, index, 'failed')
      return
    }
    const counted = tally.counts(intendedMs)
    tally.sent(intendedMs, nowMs)
    const times = { intendedMs, timeoutMs: this.#plan.timeoutMs }
    const call: BenchCall = new BenchCall(
      this.#target,
      task.turns[index]!,
      times,
      this.#scheduler,
      {
        tokens: (atMs, count, gapMs) => tally.tokensCame(atMs, count, gapMs, counted),
        ended: (record) => {
          this.#open.delete(call)
          tally.callEnded(record)
          this.#turnEnded(task, index, record, taskStartMs)
        },
      },
    )
    this.#open.add(call)
  }

  #turnEnded(task: BenchTask, index: number, record: CallRecord, taskStartMs: number): void {
    const calls = index + 1
    const next = task.turns[calls]
    if (record.outcome !== 'done') {
      this.#taskOver(taskStartMs, calls, this.#aborted ? 'cut' : 'failed')
    } else if (next === undefined) {
      this.#taskOver(taskStartMs, calls, 'completed')
    } else {
      const dueMs = record.endedMs + next.gapMs
      const pause = {
        cancel: this.#scheduler.at(dueMs, () => {
          this.#pauses.delete(pause)
          this.#turn(task, calls, dueMs, taskStartMs)
        }),
        abort: () => this.#taskOver(taskStartMs, calls, 'cut'),
      }
      this.#pauses.add(pause)
    }
  }

  #taskOver(startMs: number, calls: number, outcome: TaskOutcome): void {
    const nowMs = this.#scheduler.nowMs()
    this.#tasks--
    this.tally.taskEnded({ startMs, endedMs: nowMs, outcome, calls })
    if (this.#sending && this.#plan.load.kind === 'at-once') {
      // A server that refuses is not asked as fast as it can refuse. And never right now: tasks
      // that end as they begin would fill the stack.
      const nextMs = outcome === 'completed' ? nowMs : nowMs + pauseAfterFailureMs
      this.#scheduler.at(nextMs, () => {
        if (this.#sending) this.#beginNext(this.#scheduler.nowMs())
      })
    }
    this.#endIfOver()
  }

  #endSending(atMs: number): void {
    if (!this.#sending) return
    this.#sending = false
    this.#sendingEndedMs = atMs
    this.#cancelSend()
    this.tally.closeWindow(atMs)
    if (this.#plan.durationMs !== null) {
      const cancel = this.#scheduler.at(atMs + this.#plan.drainMs, () => this.#abort())
      void this.#ended.promise.then(cancel)
    }
    this.#endIfOver()
  }

  #stop(): void {
    this.#endSending(this.#scheduler.nowMs())
    this.#abort()
  }

  /** Whatever is under way is over. */
  #abort(): void {
    this.#aborted = true
    for (const call of [...this.#open]) call.abort('not over at the end')
    for (const pause of [...this.#pauses]) {
      pause.cancel()
      pause.abort()
    }
    this.#ended.resolve()
  }

  #endIfOver(): void {
    if (!this.#sending && this.#tasks === 0) this.#ended.resolve()
  }

  #look(): void {
    const nowMs = this.#scheduler.nowMs()
    const { inFlight, timeline } = this.tally
    timeline.looked(nowMs, inFlight)
    if (this.#sending && nowMs >= this.#fromMs) this.#trend.look(nowMs, inFlight)
    this.#cancelLook = this.#scheduler.at(nowMs + lookMs, () => this.#look())
  }
}

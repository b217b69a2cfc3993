import { QuantileSketch } from '../measure/quantile-sketch.ts'
import type { Spread } from '../measure/spread.ts'
import type { LoggedCall } from './logged-call.ts'
import { LoggedTask, type TaskFigures, type TaskPhases, taskKinds } from './logged-task.ts'

/** Sessions that are followed at once; beyond, the one silent longest is taken to be over. */
const tasksMax = 20_000
const slowestMax = 10
/** Upper ends of classes of task time, s. */
const classEnds = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000] as const

export interface TasksFigures {
  /** A session that is silent for longer begins a new task. */
  readonly gapMs: number
  readonly all: number
  readonly completed: number
  /** Of more than one call. */
  readonly ofSeveralCalls: number
  readonly calls: Spread
  readonly taskMs: Spread
  /** Mean over all tasks, ms. */
  readonly meanPhases: TaskPhases | null
  readonly classes: readonly TaskClass[]
  readonly slowest: readonly TaskFigures[]
}

/** Tasks of about one length. */
export interface TaskClass {
  /** `10 to 30 s` */
  readonly name: string
  readonly count: number
  readonly meanPhases: TaskPhases
}

type PhaseSums = { -readonly [Kind in keyof TaskPhases]: number }

const noPhases = (): PhaseSums => ({
  held: 0,
  queue: 0,
  prefill: 0,
  decode: 0,
  tool: 0,
  unanswered: 0,
})

/** Gathers calls into tasks. Calls must come about in the order in which they ended. */
export class LoggedTasks {
  readonly #gapMs: number
  /** By session, the one that was heard of last at the end. */
  readonly #open = new Map<string, LoggedTask>()
  readonly #taskMs = new QuantileSketch()
  readonly #calls = new QuantileSketch()
  readonly #classes = [...classEnds, Number.POSITIVE_INFINITY].map(() => ({
    count: 0,
    sums: noPhases(),
  }))
  readonly #slowest: LoggedTask[] = []
  #completed = 0
  #ofSeveralCalls = 0

  constructor(gapMs: number) {
    this.#gapMs = gapMs
  }

  add(call: LoggedCall): void {
    if (call.session === null) return
    let task = this.#open.get(call.session)
    if (task !== undefined && call.arrivedMs - task.lastMs > this.#gapMs) {
      this.#close(task)
      task = undefined
    }
    task ??= new LoggedTask(call)
    task.add(call)
    this.#open.delete(call.session)
    this.#open.set(call.session, task)
    this.#closeSilent(call.arrivedMs)
  }

  end(): void {
    for (const task of [...this.#open.values()]) this.#close(task)
  }

  figures(): TasksFigures {
    const all = this.#taskMs.count
    const sums = noPhases()
    for (const one of this.#classes) for (const kind of taskKinds) sums[kind] += one.sums[kind]
    return {
      gapMs: this.#gapMs,
      all,
      completed: this.#completed,
      ofSeveralCalls: this.#ofSeveralCalls,
      calls: this.#calls.spread(),
      taskMs: this.#taskMs.spread(),
      meanPhases: all > 0 ? meanOf(sums, all) : null,
      classes: this.#classes.flatMap(({ count, sums }, i) =>
        count === 0 ? [] : [{ name: className(i), count, meanPhases: meanOf(sums, count) }],
      ),
      slowest: this.#slowest.map((task) => task.figures()),
    }
  }

  get taskMs(): QuantileSketch {
    return this.#taskMs
  }

  #closeSilent(nowMs: number): void {
    for (const task of this.#open.values()) {
      if (this.#open.size <= tasksMax && nowMs - task.lastMs <= this.#gapMs) return
      this.#close(task)
    }
  }

  #close(task: LoggedTask): void {
    this.#open.delete(task.session)
    const { taskMs, calls, completed, phases } = task
    this.#taskMs.add(taskMs)
    this.#calls.add(calls)
    if (completed) this.#completed++
    if (calls > 1) this.#ofSeveralCalls++
    const place = classEnds.findIndex((end) => taskMs < end * 1_000)
    const ofClass = this.#classes[place < 0 ? classEnds.length : place]!
    ofClass.count++
    for (const kind of taskKinds) ofClass.sums[kind] += phases[kind]
    this.#keepSlowest(task)
  }

  #keepSlowest(task: LoggedTask): void {
    const slowest = this.#slowest
    if (slowest.length === slowestMax && task.taskMs <= slowest.at(-1)!.taskMs) return
    const place = slowest.findIndex(({ taskMs }) => taskMs < task.taskMs)
    slowest.splice(place < 0 ? slowest.length : place, 0, task)
    slowest.length = Math.min(slowest.length, slowestMax)
  }
}

function meanOf(sums: TaskPhases, count: number): TaskPhases {
  const mean = noPhases()
  for (const kind of taskKinds) mean[kind] = sums[kind] / count
  return mean
}

function className(place: number): string {
  const [from, to] = [classEnds[place - 1], classEnds[place]]
  if (from === undefined) return `below ${to} s`
  return to === undefined ? `above ${from} s` : `${from} to ${to} s`
}

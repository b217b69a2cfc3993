import { QuantileSketch } from '../measure/quantile-sketch.ts'
import { Arrived } from './arrived.ts'
import { type BenchSlo, meetsSlo } from './bench-slo.ts'
import { type CallRecord, type TaskRecord, tpotOf, ttftOf } from './call-record.ts'
import { StageTimeline } from './stage-timeline.ts'

/** Causes of calls that were not answered that are told apart; the rest count as `other`. */
const causesMax = 20

/** The samples of one stage. */
export class StageSamples {
  readonly ttftMs = new QuantileSketch()
  readonly tpotMs = new QuantileSketch()
  readonly itlMs = new QuantileSketch()
  readonly e2eMs = new QuantileSketch()
  /** By how much calls left later than they were to: the bench's fault, not the server's. */
  readonly lagMs = new QuantileSketch()
  readonly taskMs = new QuantileSketch()
}

/**
 * Counts what a stage's calls come to. Calls count whose intended time is in the window, from its
 * first moment to its last; throughput is what came within the window, whoever asked for it.
 */
export class StageTally {
  readonly samples = new StageSamples()
  readonly timeline: StageTimeline
  readonly causes = new Map<string, number>()
  readonly requests = { all: 0, done: 0, refused: 0, failed: 0, timedOut: 0, unsent: 0, good: 0 }
  readonly tasks = { all: 0, completed: 0, failed: 0, cut: 0, calls: 0 }
  readonly tokens = { prompt: 0, cached: 0, output: 0 }
  /** What came within the window, and from its beginning to the end of the stage. */
  readonly window: Arrived
  readonly whole: Arrived
  /** Calls that are open now. */
  inFlight = 0
  readonly #fromMs: number
  readonly #toMs: number
  readonly #slo: BenchSlo

  constructor(startMs: number, window: { fromMs: number; toMs: number }, slo: BenchSlo) {
    this.#fromMs = window.fromMs
    this.#toMs = window.toMs
    this.#slo = slo
    this.window = new Arrived(window.fromMs, window.toMs)
    this.whole = new Arrived(window.fromMs, Number.POSITIVE_INFINITY)
    this.timeline = new StageTimeline(startMs)
  }

  /** No more tasks begin: what comes from now on comes under less load. */
  closeWindow(nowMs: number): void {
    this.window.close(nowMs)
  }

  end(nowMs: number): void {
    this.whole.close(nowMs)
  }

  counts(intendedMs: number): boolean {
    return intendedMs >= this.#fromMs && intendedMs < this.#toMs
  }

  sent(intendedMs: number, nowMs: number): void {
    this.inFlight++
    this.timeline.at(nowMs).sent++
    if (this.counts(intendedMs)) this.samples.lagMs.add(Math.max(0, nowMs - intendedMs))
  }

  /** As many calls as may be were open already. */
  unsent(intendedMs: number, nowMs: number): void {
    this.timeline.at(nowMs).missed++
    if (!this.counts(intendedMs)) return
    this.requests.all++
    this.requests.unsent++
  }

  tokensCame(nowMs: number, count: number, gapMs: number | null, counted: boolean): void {
    this.timeline.at(nowMs).outputEvents += count
    if (!counted) return
    if (gapMs !== null) this.samples.itlMs.add(gapMs)
    this.samples.itlMs.add(0, count - 1)
  }

  callEnded(call: CallRecord): void {
    this.inFlight--
    this.window.add(call)
    this.whole.add(call)
    const bin = this.timeline.at(call.endedMs)
    if (call.outcome === 'done') bin.done++
    else bin.missed++
    if (!this.counts(call.intendedMs)) return
    const { requests, samples, tokens } = this
    requests.all++
    if (call.outcome === 'timed-out') requests.timedOut++
    else requests[call.outcome]++
    if (call.cause !== null) this.#count(call.cause)
    if (meetsSlo(call, this.#slo)) requests.good++
    addKnown(samples.ttftMs, ttftOf(call))
    if (call.outcome !== 'done') return
    addKnown(samples.tpotMs, tpotOf(call))
    samples.e2eMs.add(call.endedMs - call.intendedMs)
    tokens.prompt += call.promptTokens ?? 0
    tokens.cached += call.cachedTokens ?? 0
    tokens.output += call.outputTokens
  }

  taskEnded(task: TaskRecord): void {
    if (!this.counts(task.startMs)) return
    this.tasks.all++
    this.tasks.calls += task.calls
    this.tasks[task.outcome]++
    if (task.outcome === 'completed') this.samples.taskMs.add(task.endedMs - task.startMs)
  }

  #count(cause: string): void {
    const { causes } = this
    const name = causes.has(cause) || causes.size < causesMax ? cause : 'other'
    causes.set(name, (causes.get(name) ?? 0) + 1)
  }
}

function addKnown(sketch: QuantileSketch, value: number | null): void {
  if (value !== null) sketch.add(Math.max(0, value))
}

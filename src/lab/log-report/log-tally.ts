import type { DecisionLogRecord, HeaderRecord } from '../../observe/decision-record.ts'
import type { DecisionLogReader } from '../../observe/read-decision-log.ts'
import { CallTally } from './call-tally.ts'
import { EndpointTime } from './endpoint-time.ts'
import { FairSample } from './fair-sample.ts'
import type { CostFigures, LogFigures, NamedFigures, PredictedPoint } from './log-figures.ts'
import { LogTimes } from './log-times.ts'
import type { LoggedCall } from './logged-call.ts'
import { LoggedCalls } from './logged-calls.ts'
import { LoggedTasks } from './logged-tasks.ts'
import { NamedTallies } from './named-tallies.ts'

export interface LogTallyOptions {
  /** A session that is silent for longer begins a new task. */
  readonly taskGapMs: number
  /** Of one endpoint; null for no cost. */
  readonly pricePerHour: number | null
}

const pointsMax = 2_000
const outlinePoints = 101
const codesMax = 50

/** Takes the records of one log, or of several one after the other, in bounded memory. */
export class LogTally {
  readonly #options: LogTallyOptions
  readonly #all = new CallTally()
  readonly #models = new NamedTallies()
  readonly #tenants = new NamedTallies()
  readonly #endpoints = new NamedTallies()
  readonly #tasks: LoggedTasks
  readonly #times = new LogTimes()
  readonly #endpointTime = new EndpointTime()
  readonly #points = new FairSample<PredictedPoint>(pointsMax)
  readonly #refusals: Record<string, number> = {}
  readonly #failures: Record<string, number> = {}
  readonly #fallbacks: Record<string, number> = {}
  readonly #policies = new Set<string>()
  readonly #calls = new LoggedCalls((call) => this.#call(call))
  #starts = 0
  #offsetMs = 0

  constructor(options: LogTallyOptions) {
    this.#options = options
    this.#tasks = new LoggedTasks(options.taskGapMs)
  }

  add(record: DecisionLogRecord): void {
    switch (record.type) {
      case 'header':
        this.#header(record)
        break
      case 'endpoint':
        this.#endpointTime.heard(record, this.#offsetMs + record.atMs)
        break
      case 'decision':
        this.#calls.decided(record, this.#offsetMs)
        break
      case 'outcome':
        this.#calls.ended(record)
        break
    }
  }

  /** @param readers those that read the lines, one a file */
  figures(readers: readonly DecisionLogReader[], files: readonly string[]): LogFigures {
    this.#calls.restarted()
    this.#tasks.end()
    const sum = (of: (reader: DecisionLogReader) => number): number =>
      readers.reduce((total, reader) => total + of(reader), 0)
    const tasks = this.#tasks.figures()
    return {
      schema: 'warmpath-log-report/1',
      files,
      lines: {
        all: sum(({ lines }) => lines),
        bad: sum(({ badLines }) => badLines),
        problems: readers.flatMap(({ problems }) => problems),
        unknown: sum(({ unknownRecords }) => unknownRecords),
        outcomesWithoutDecision: this.#calls.outcomesWithoutDecision,
      },
      policies: [...this.#policies],
      starts: this.#starts,
      time: this.#times.span,
      all: this.#all.figures(),
      models: named(this.#models),
      tenants: named(this.#tenants),
      endpoints: named(this.#endpoints),
      tasks,
      refusals: this.#refusals,
      failures: this.#failures,
      fallbacks: this.#fallbacks,
      cost: this.#cost(tasks.completed),
      timeline: this.#times.timeline(),
      ttftByModel: this.#models.byRequests.map(([name, tally]) => ({
        name,
        ttftMs: tally.ttftMs.outline(outlinePoints),
      })),
      taskMs: this.#tasks.taskMs.outline(outlinePoints),
      predicted: this.#points.items,
      quantiles: 'exact up to 10,000 samples, then within 0.5 %',
    }
  }

  #header({ startedAt, startedAtMs, policy }: HeaderRecord): void {
    const offsetMs = Date.parse(startedAt) - startedAtMs
    // A file that was begun because the one before it was full goes on with the same clock.
    if (this.#starts > 0 && Math.abs(offsetMs - this.#offsetMs) < 1_000) return
    this.#calls.restarted()
    this.#offsetMs = offsetMs
    this.#starts++
    if (this.#policies.size < codesMax) this.#policies.add(policy)
  }

  #call(call: LoggedCall): void {
    this.#all.add(call)
    this.#models.add(call.model, call)
    this.#tenants.add(call.tenant, call)
    if (call.endpoint !== null) this.#endpoints.add(call.endpoint, call)
    this.#tasks.add(call)
    this.#times.add(call)
    if (call.outcome === 'refused') count(this.#refusals, call.cause ?? 'unknown')
    if (call.outcome === 'failed') count(this.#failures, call.cause ?? 'unknown')
    this.#countFallbacks(call)
    const { endpoint, predictedTtftMs, ttftSinceDispatchMs, attempts } = call
    if (endpoint === null || predictedTtftMs === null || ttftSinceDispatchMs === null) return
    const measuredMs = ttftSinceDispatchMs
    if (attempts <= 1) this.#points.add({ endpoint, predictedMs: predictedTtftMs, measuredMs })
  }

  #countFallbacks({ outcome, attempts, outputTokens, cachedTokens }: LoggedCall): void {
    if (attempts > 1) count(this.#fallbacks, 'sent to another endpoint')
    if (outcome === 'open') count(this.#fallbacks, 'no end in the log')
    if (outcome !== 'done') return
    if (outputTokens === null) count(this.#fallbacks, 'usage not reported')
    else if (cachedTokens === null) count(this.#fallbacks, 'cached tokens not reported')
  }

  #cost(completedTasks: number): CostFigures | null {
    const { pricePerHour } = this.#options
    if (pricePerHour === null) return null
    const endpointHours = this.#endpointTime.hours(this.#times.lastMs)
    const total = endpointHours * pricePerHour
    const { prompt, output } = this.#all.figures().tokens
    return {
      pricePerHour,
      endpointHours,
      total,
      perCompletedTask: completedTasks > 0 ? total / completedTasks : null,
      perMillionTokens: prompt + output > 0 ? total / ((prompt + output) / 1e6) : null,
    }
  }
}

function named(tallies: NamedTallies): NamedFigures[] {
  return tallies.byRequests.map(([name, tally]) => ({ name, ...tally.figures() }))
}

function count(counts: Record<string, number>, name: string): void {
  const known = Object.hasOwn(counts, name)
  const key = known || Object.keys(counts).length < codesMax ? name : 'other'
  counts[key] = (counts[key] ?? 0) + 1
}

import type { BadLine } from '../../observe/read-decision-log.ts'
import type { CallFigures } from './call-tally.ts'
import type { TasksFigures } from './logged-tasks.ts'

/** What happened, by a decision log: what `--json` prints and what the report is made of. */
export interface LogFigures {
  readonly schema: 'warmpath-log-report/1'
  readonly files: readonly string[]
  readonly lines: {
    readonly all: number
    readonly bad: number
    /** The first of them. */
    readonly problems: readonly BadLine[]
    /** Of types that this version does not know. */
    readonly unknown: number
    readonly outcomesWithoutDecision: number
  }
  /** Of the router; it started anew where there are several. */
  readonly policies: readonly string[]
  readonly starts: number
  /** From the first arrival to the last end, wall-clock time; null without a request. */
  readonly time: { readonly from: string; readonly to: string; readonly ms: number } | null
  readonly all: CallFigures
  readonly models: readonly NamedFigures[]
  readonly tenants: readonly NamedFigures[]
  readonly endpoints: readonly NamedFigures[]
  readonly tasks: TasksFigures
  /** Codes of refusals, and why requests failed, with how often. */
  readonly refusals: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<string, number>>
  /** Where the router or the report went on with less than it should have, with how often. */
  readonly fallbacks: Readonly<Record<string, number>>
  readonly cost: CostFigures | null
  readonly timeline: LogTimeline | null
  /** Evenly spaced quantiles of the time to first token, by model. */
  readonly ttftByModel: readonly { readonly name: string; readonly ttftMs: readonly number[] }[]
  readonly taskMs: readonly number[]
  /** A fair choice of requests. */
  readonly predicted: readonly PredictedPoint[]
  readonly quantiles: string
}

export interface NamedFigures extends CallFigures {
  readonly name: string
}

export interface CostFigures {
  readonly pricePerHour: number
  /** Of all endpoints together. */
  readonly endpointHours: number
  readonly total: number
  /** Null where none was completed. */
  readonly perCompletedTask: number | null
  readonly perMillionTokens: number | null
}

export interface LogTimeline {
  readonly binMs: number
  /** Requests by the time of their arrival. */
  readonly arrivals: readonly number[]
  readonly refused: readonly number[]
  /** Prompt tokens that were not cached, by endpoint and the time of dispatch. */
  readonly computedTokens: readonly { readonly name: string; readonly values: readonly number[] }[]
}

export interface PredictedPoint {
  readonly endpoint: string
  readonly predictedMs: number
  readonly measuredMs: number
}

import type { Spread } from '../measure/spread.ts'
import type { BenchSlo } from './bench-slo.ts'
import type { Verdict } from './stability.ts'
import type { StageRun } from './stage.ts'
import type { StageLoad, StagePlan } from './stage-load.ts'
import type { TimeBin } from './stage-timeline.ts'

/** What one stage came to. Counts and times are of calls whose send time was in the window. */
export interface StageFigures {
  readonly url: string
  /** 0 for the first. */
  readonly round: number
  readonly load: StageLoad
  readonly seed: number
  readonly warmUpMs: number
  readonly windowMs: number
  readonly drainMs: number
  readonly requests: StageRun['tally']['requests']
  readonly causes: Readonly<Record<string, number>>
  readonly ttftMs: Spread
  readonly tpotMs: Spread
  readonly itlMs: Spread
  readonly e2eMs: Spread
  readonly lagMs: Spread
  /** Whether the bench itself sent in time. */
  readonly keptRate: boolean
  readonly tokens: StageRun['tally']['tokens']
  /** Per second, of what came. */
  readonly perSecond: {
    readonly requests: number
    readonly promptTokens: number
    readonly outputTokens: number
    readonly totalTokens: number
    /** Over this time. */
    readonly overMs: number
  }
  readonly goodput: { readonly slo: BenchSlo; readonly perSecond: number; readonly share: number }
  readonly inFlight: {
    readonly mean: number | null
    readonly most: number
    readonly growth: number
  }
  /** Null in a closed loop, which cannot pile up. */
  readonly verdict: Verdict | null
  readonly tasks: StageRun['tally']['tasks'] & { readonly taskMs: Spread }
  /** Ended before its time. */
  readonly cut: boolean
  readonly timeline: { readonly binMs: number; readonly bins: readonly TimeBin[] }
}

/** Later than this, at the 90th percentile, calls no longer left when they were to. */
export const lagMsMax = 10

export function stageFigures(
  { tally, trend, drainMs }: StageRun,
  plan: StagePlan,
  slo: BenchSlo,
  of: { readonly url: string; readonly round: number; readonly cut: boolean },
): StageFigures {
  const { requests, samples, timeline } = tally
  // Where tasks run to their end, the last ones run under less and less load.
  const arrived =
    plan.durationMs !== null || tally.window.lengthMs >= tally.whole.lengthMs / 2
      ? tally.window
      : tally.whole
  const seconds = arrived.lengthMs / 1_000
  const rate = (count: number): number => (seconds > 0 ? count / seconds : 0)
  const goodSeconds = (plan.durationMs === null ? tally.whole : tally.window).lengthMs / 1_000
  const lagMs = samples.lagMs.spread()
  return {
    ...of,
    load: plan.load,
    seed: plan.seed,
    warmUpMs: plan.warmUpMs,
    windowMs: (plan.durationMs === null ? tally.whole : tally.window).lengthMs,
    drainMs,
    requests,
    causes: Object.fromEntries(tally.causes),
    ttftMs: samples.ttftMs.spread(),
    tpotMs: samples.tpotMs.spread(),
    itlMs: samples.itlMs.spread(),
    e2eMs: samples.e2eMs.spread(),
    lagMs,
    keptRate: requests.unsent === 0 && (lagMs.p90 ?? 0) <= lagMsMax,
    tokens: tally.tokens,
    perSecond: {
      requests: rate(arrived.requests),
      promptTokens: rate(arrived.promptTokens),
      outputTokens: rate(arrived.outputTokens),
      totalTokens: rate(arrived.promptTokens + arrived.outputTokens),
      overMs: arrived.lengthMs,
    },
    goodput: {
      slo,
      perSecond: goodSeconds > 0 ? requests.good / goodSeconds : 0,
      share: requests.all > 0 ? requests.good / requests.all : 0,
    },
    inFlight: { mean: trend.mean, most: trend.most, growth: trend.growth },
    verdict: plan.load.kind === 'rate' ? trend.verdict(requests.all) : null,
    tasks: { ...tally.tasks, taskMs: samples.taskMs.spread() },
    timeline: { binMs: timeline.binMs, bins: timeline.bins },
  }
}

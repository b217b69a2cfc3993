import type { StageFigures } from './stage-figures.ts'

/** Share of calls that must meet the objectives. */
const kneeShare = 0.95

/** In words, for whoever reads the figure. */
export const kneeRule =
  'Knee: the highest rate that was tried below the first at which fewer than 95 % of the ' +
  'requests met the objectives or requests piled up (by the slope of the open ones, more than ' +
  '5 % of those sent).'

export type StageJudgement =
  | 'passed'
  | 'failed'
  /** The bench did not send in time, or was stopped: the stage says nothing of the server. */
  | 'unknown'

export interface Knee {
  readonly url: string
  /** Requests per second; null where the lowest rate failed already. */
  readonly perSecond: number | null
  /** The lowest rate that failed; null where none did, so that the knee may lie higher. */
  readonly failedAt: number | null
}

export function judgeStage({ verdict, goodput, keptRate, cut }: StageFigures): StageJudgement {
  if (!keptRate || cut) return 'unknown'
  return verdict !== 'overloaded' && goodput.share >= kneeShare ? 'passed' : 'failed'
}

/** @param stages of one URL, open loop, in any order */
export function kneeOf(url: string, stages: readonly StageFigures[]): Knee {
  const judged = stages
    .filter((stage) => stage.url === url)
    .flatMap((stage) =>
      stage.load.kind === 'rate'
        ? [{ perSecond: stage.load.perSecond, judgement: judgeStage(stage) }]
        : [],
    )
  const rates = (wanted: StageJudgement): number[] =>
    judged.filter(({ judgement }) => judgement === wanted).map(({ perSecond }) => perSecond)
  const failedAt = Math.min(Number.POSITIVE_INFINITY, ...rates('failed'))
  const perSecond = Math.max(0, ...rates('passed').filter((rate) => rate < failedAt))
  return {
    url,
    perSecond: perSecond > 0 ? perSecond : null,
    failedAt: Number.isFinite(failedAt) ? failedAt : null,
  }
}

/** Rates from one to another, each the same factor above the one before. */
export function sweepRates(from: number, to: number, count: number): number[] {
  if (count < 2 || from === to) return [from]
  const factor = (to / from) ** (1 / (count - 1))
  return Array.from({ length: count }, (_, i) => roundRate(from * factor ** i))
}

/** The rate to try next, between the knee and the rate that failed; null where that is narrow. */
export function rateBetween({ perSecond, failedAt }: Knee): number | null {
  if (perSecond === null || failedAt === null || failedAt / perSecond < 1.1) return null
  return roundRate(Math.sqrt(perSecond * failedAt))
}

/** Three significant digits: what a reader can keep in mind. */
function roundRate(rate: number): number {
  return Number(rate.toPrecision(3))
}

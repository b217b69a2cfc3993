/** What came of a goal's claims. */
import type { Interval } from '../measure/bootstrap.ts'
import type { MeasuredRun } from '../measure/measure-run.ts'
import type { ArmResults } from '../runner/run-arms.ts'
import type { Against, Claim } from './goal.ts'
import { isMeant } from './is-meant.ts'
import { measured, measuredAcross, type Outcome, outcomeOf } from './judge.ts'

export interface Verdict {
  readonly claim: Claim
  readonly point: string
  /** The arm, or the other point, that it was held against; null for a figure by itself. */
  readonly against: string | null
  readonly interval: Interval | null
  /** `not judged` where what it is held against was not run. */
  readonly outcome: Outcome | 'not judged'
}

/** The arms of one point that are judged. */
export interface JudgedPoint {
  readonly point: { readonly name: string }
  readonly ours: ArmResults
  /** Best first. */
  readonly peers: readonly ArmResults[]
}

/**
 * One for each claim at each of its points that was run.
 * @param all how many points the goal has
 */
export function verdictsOf(
  claims: readonly Claim[],
  points: readonly JudgedPoint[],
  all = points.length,
): Verdict[] {
  return claims.flatMap((claim) => {
    const at = points.filter(({ point }) => claim.points?.includes(point.name) ?? true)
    if (claim.across) return [verdictAcross(claim, at, all)]
    return at.map((one) => verdictAt(claim, one, points))
  })
}

function verdictAcross(claim: Claim, points: readonly JudgedPoint[], all: number): Verdict {
  const { metric, against } = claim
  const bases = points.flatMap((at) => (against && baseOf(against, at, points)) ?? [])
  const names = [...new Set(bases.map(({ name }) => name))]
  const told = { claim, point: `mean of ${all}`, against: names.join(', ') || null }
  if (points.length < all || (against && bases.length < all)) return { ...told, ...notJudged }
  const base = against === undefined ? null : bases.map(({ runs }) => runs)
  const ours = points.map((at) => at.ours.runs)
  return { ...told, ...judged(claim, measuredAcross(metric, ours, base)) }
}

const notJudged = { interval: null, outcome: 'not judged' } as const

function verdictAt(claim: Claim, at: JudgedPoint, points: readonly JudgedPoint[]): Verdict {
  const point = at.point.name
  if (claim.against === undefined) {
    return { claim, point, against: null, ...judged(claim, measured(claim.metric, at.ours.runs)) }
  }
  const base = baseOf(claim.against, at, points)
  if (base === undefined) {
    const [against] = Object.values(claim.against)
    return { claim, point, against: String(against), ...notJudged }
  }
  const interval = measured(claim.metric, at.ours.runs, base.runs)
  return { claim, point, against: base.name, ...judged(claim, interval) }
}

function judged(claim: Claim, interval: Interval): Pick<Verdict, 'interval' | 'outcome'> {
  return { interval, outcome: outcomeOf(interval, claim) }
}

function baseOf(
  against: Against,
  { peers }: JudgedPoint,
  points: readonly JudgedPoint[],
): { readonly name: string; readonly runs: readonly MeasuredRun[] } | undefined {
  if ('point' in against) {
    const other = points.find(({ point }) => point.name === against.point)
    return other && { name: against.point, runs: other.ours.runs }
  }
  return peers.find((arm) => isMeant(against, arm))
}

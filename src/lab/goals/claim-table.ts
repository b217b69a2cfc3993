/** A goal's claims and what came of them. */
import type { Cell, ReportTable } from '../report/report.ts'
import type { Bounds } from './goal.ts'
import type { Verdict } from './verdicts.ts'

export function claimTable(verdicts: readonly Verdict[]): ReportTable {
  return {
    kind: 'table',
    title: '',
    columns: [
      { title: 'claim' },
      { title: 'at' },
      { title: 'against' },
      { title: 'measured' },
      { title: '95 % interval' },
      { title: 'to meet' },
      { title: 'verdict' },
    ],
    rows: verdicts.map(claimRow),
  }
}

function claimRow({ claim, point, against, interval, outcome }: Verdict): Cell[] {
  const { value, low, high } = interval ?? { value: null, low: null, high: null }
  const unit = unitOf(against)
  const measured = value === null ? null : `${unit}${figure(value)}`
  const between = low === null || high === null ? null : `${figure(low)} to ${figure(high)}`
  return [claim.metric.name, point, against, measured, between, boundsText(claim, against), outcome]
}

/** Where claims fall short, in words: a sentence for each, with the point that is furthest off. */
export function shortfalls(verdicts: readonly Verdict[]): string[] {
  const short = verdicts.filter(({ outcome }) => outcome === 'missed' || outcome === 'not shown')
  return [...new Set(short.map(({ claim }) => claim))].map((claim) => {
    const all = verdicts.filter((one) => one.claim === claim)
    const missed = short.filter((one) => one.claim === claim)
    const worst = missed.reduce((a, b) => (margin(b) < margin(a) ? b : a))
    const where = all.length > 1 ? `at ${missed.length} of ${all.length} points, most at` : 'at'
    return `${claim.metric.name} falls short ${where} ${worst.point}: ${shortfallText(worst)}.`
  })
}

/** How far the figure is on the right side of its bound; negative on the wrong one. */
function margin({ claim: { atLeast, atMost }, interval }: Verdict): number {
  const { value } = interval!
  if (atLeast !== undefined) return value / atLeast - 1
  return atMost === undefined ? 0 : 1 - value / atMost
}

function shortfallText({ claim, against, interval, outcome }: Verdict): string {
  const beside = against === null ? '' : ` of ${against}'s`
  const { value, low, high } = interval!
  const between = low === null || high === null ? '' : ` (${figure(low)} to ${figure(high)})`
  const what = `${unitOf(against)}${figure(value)}${between}${beside}`
  const verdict = outcome === 'missed' ? '' : ', not shown'
  return `${what}, to meet was ${boundsText(claim, against)}${verdict}`
}

/** Against something, a ratio; else the figure itself. */
function unitOf(against: string | null): string {
  return against === null ? '' : '×'
}

function boundsText({ atLeast, atMost }: Bounds, against: string | null): string {
  const unit = unitOf(against)
  const least = atLeast === undefined ? [] : [`≥ ${unit}${figure(atLeast)}`]
  const most = atMost === undefined ? [] : [`≤ ${unit}${figure(atMost)}`]
  return [...least, ...most].join(', ')
}

/** Three digits that count. */
function figure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return Number(value.toPrecision(3)).toLocaleString('en-US', {
    maximumFractionDigits: 6,
    minimumFractionDigits: Math.abs(value) >= 100 ? 0 : 2,
  })
}

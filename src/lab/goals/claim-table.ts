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

/** In words: what it comes to, and what it should. */
export function shortfallText({ claim, point, against, interval, outcome }: Verdict): string {
  const verb = outcome === 'missed' ? 'falls short' : 'is not shown'
  const beside = against === null ? '' : ` of ${against}'s`
  const { value, low, high } = interval!
  const between = low === null || high === null ? '' : ` (${figure(low)} to ${figure(high)})`
  return (
    `${claim.metric.name} at ${point} ${verb}: ${unitOf(against)}${figure(value)}${between}` +
    `${beside}, to meet was ${boundsText(claim, against)}.`
  )
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

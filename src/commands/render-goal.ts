/** What `warmpath lab goal` prints. */

import type { Bounds } from '../lab/goals/goal.ts'
import { goals } from '../lab/goals/goals.ts'
import type { GoalPlan, GoalResult, PointResult } from '../lab/goals/run-goal.ts'
import type { Verdict } from '../lab/goals/verdicts.ts'
import type { Interval } from '../lab/measure/bootstrap.ts'
import { figureTable } from './render-simulation.ts'
import { type Column, type Row, textTable } from './text-table.ts'

/** The goals there are. */
export function renderGoals(): string {
  const rows = goals.map(({ name, title, points }) => [
    name,
    title,
    points.map((point) => point.name).join(', '),
  ])
  return `${textTable(['goal', 'traffic', 'points'], rows)}\n`
}

export function renderGoal({ goal, plan, points, verdicts }: GoalResult): string {
  return [
    `${goal.name}: ${goal.title}. Simulated, ${seedsText(plan)}.`,
    ...points.map(pointText),
    textTable(verdictColumns, verdicts.map(verdictRow)),
    summary(goal.name, plan, verdicts),
  ].join('\n\n')
}

function seedsText({ seeds, screeningSeeds, quick }: GoalPlan): string {
  const what = quick ? 'quick: fewer points and seeds, not a verdict; ' : ''
  return `${what}${seeds} seeds, arms screened on ${screeningSeeds}`
}

function pointText({ point, screened, ours, peers }: PointResult): string {
  const { arms, variants } = screened
  const head = `${point.name}: ${point.workload} on ${point.fleet}`
  const who = `best of ${arms} arms in ${variants} variants, and those that claims name`
  return `${head}\n${who}\n${figureTable([ours, ...peers])}`
}

const verdictColumns: readonly Column[] = [
  { title: 'claim' },
  { title: 'at' },
  { title: 'against' },
  { title: 'measured', align: 'right' },
  { title: '95 % interval', align: 'right' },
  { title: 'to meet', align: 'right' },
  { title: 'verdict' },
]

function verdictRow({ claim, point, against, interval, outcome }: Verdict): Row {
  const { metric } = claim
  const unit = against === null ? '' : '×'
  const shown = interval === null ? [null, null] : intervalTexts(interval, unit)
  return [metric.name, point, against, ...shown, boundText(claim, unit), outcome]
}

function intervalTexts({ value, low, high }: Interval, unit: string): (string | null)[] {
  const between = low === null || high === null ? null : `${figure(low)} to ${figure(high)}`
  return [`${unit}${figure(value)}`, between]
}

function boundText({ atLeast, atMost }: Bounds, unit: string): string {
  const least = atLeast === undefined ? [] : [`≥ ${unit}${figure(atLeast)}`]
  const most = atMost === undefined ? [] : [`≤ ${unit}${figure(atMost)}`]
  return [...least, ...most].join(', ')
}

/** Three digits that count, at least. */
function figure(value: number): string {
  if (!Number.isFinite(value)) return '-'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toPrecision(3).replace(/(\.\d\d)\d+$/, value < 0.1 ? '$&' : '$1')
}

function summary(name: string, plan: GoalPlan, verdicts: readonly Verdict[]): string {
  const count = (outcome: Verdict['outcome']): number =>
    verdicts.filter((verdict) => verdict.outcome === outcome).length
  const parts = [
    `${count('met')} of ${verdicts.length} claims of ${name} are met`,
    ...[`missed`, `not shown`, `not judged`].flatMap((outcome) => {
      const of = count(outcome as Verdict['outcome'])
      return of === 0 ? [] : [`${of} ${outcome}`]
    }),
  ]
  const seeds = plan.seeds < 10 ? ' With fewer than ten seeds this is an impression only.' : ''
  return `${parts.join(', ')}.${seeds}`
}

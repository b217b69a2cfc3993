/** What `warmpath simulate` prints. */

import type { Interval } from '../lab/measure/bootstrap.ts'
import type { ArmComparison, ArmRuns } from '../lab/measure/compare.ts'
import { goodputMetric, headlineMetrics } from '../lab/measure/headline.ts'
import type { MeasuredRun, RunFigures } from '../lab/measure/measure-run.ts'
import { SeedSamples } from '../lab/measure/seed-samples.ts'
import { sumOf } from '../lab/measure/spread.ts'
import { type Column, type Row, textTable } from './text-table.ts'

const right = (title: string): Column => ({ title, align: 'right' })

const figureColumns: readonly Column[] = [
  { title: 'policy' },
  ...['tok/s', 'steady', 'TTFT p50 s', 'p90', 'p99', 'TPOT p50 ms', 'task p50 s', 'p90'],
  ...['slowdown p99', 'good %', 'cached %', 'reuse %', 'refused', 'failed', '$/task'],
].map((column) => (typeof column === 'string' ? right(column) : column))

/** One line for each arm: means over the seeds, quantiles of all samples. */
export function figureTable(arms: readonly ArmRuns[]): string {
  return textTable(figureColumns, arms.map(figureRow))
}

function figureRow({ name, runs }: ArmRuns): Row {
  const once = new Uint16Array(runs.length).fill(1)
  const quantile = (key: keyof MeasuredRun['samples'], p: number): number =>
    new SeedSamples(runs.map(({ samples }) => samples[key])).quantile(p, once)
  const seconds = (key: 'ttftMs' | 'taskMs', p: number): string | null =>
    fixed(quantile(key, p) / 1_000)
  const mean = (of: (figures: RunFigures) => number | null | undefined): number =>
    sumOf(runs.map(({ figures }) => of(figures) ?? Number.NaN)) / runs.length
  const total = (of: (figures: RunFigures) => number): number =>
    sumOf(runs.map(({ figures }) => of(figures)))
  return [
    name,
    whole(mean(({ whole }) => whole.totalTokens)),
    whole(mean(({ steady }) => steady?.totalTokens)),
    seconds('ttftMs', 0.5),
    seconds('ttftMs', 0.9),
    seconds('ttftMs', 0.99),
    fixed(quantile('tpotMs', 0.5)),
    seconds('taskMs', 0.5),
    seconds('taskMs', 0.9),
    fixed(quantile('slowdown', 0.99)),
    percent(mean(({ goodput }) => goodput.share)),
    percent(mean(({ reuse }) => reuse.cachedShare)),
    percent(mean(({ reuse }) => reuse.captured)),
    whole(total(({ requests }) => requests.refused)),
    whole(total(({ requests }) => requests.failed)),
    fixed(mean(({ cost }) => cost.perTask)),
  ]
}

/** What each arm has of the first one's figures; of goodput, what it has more. */
export function ratioTable(arms: readonly ArmComparison[]): string {
  const columns = headlineMetrics.map(({ name }) => right(name))
  const rows = arms.flatMap(({ name, ratios, differences }) => {
    if (ratios === null || differences === null) return []
    const cells = headlineMetrics.map((metric, i) =>
      metric === goodputMetric ? pointsText(differences[i]!) : ratioText(ratios[i]!),
    )
    return [[name, ...cells]]
  })
  return textTable([{ title: `against ${arms[0]?.name}` }, ...columns], rows)
}

function ratioText(interval: Interval): string {
  return `×${withBounds(interval, (ratio) => ratio.toFixed(2))}`
}

/** Percentage points. */
function pointsText(interval: Interval): string {
  return withBounds(interval, (share) => `${share < 0 ? '' : '+'}${(100 * share).toFixed(1)}`)
}

function withBounds({ value, low, high }: Interval, text: (value: number) => string): string {
  const known = (one: number): string => (Number.isFinite(one) ? text(one) : '-')
  if (low === null || high === null) return known(value)
  return `${known(value)} [${known(low)}, ${known(high)}]`
}

function whole(value: number): string | null {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : null
}

function fixed(value: number): string | null {
  return Number.isFinite(value) ? value.toFixed(2) : null
}

function percent(share: number): string | null {
  return Number.isFinite(share) ? (100 * share).toFixed(1) : null
}

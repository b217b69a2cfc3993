/** The arms of one point beside each other. */

import type { ArmRuns } from '../measure/compare.ts'
import { type Metric, meanMetric, quantileMetric } from '../measure/compare.ts'
import type { ReportColumn, ReportTable } from '../report/report.ts'
import {
  goodput,
  slowdownMax,
  steadyThroughput,
  taskP50,
  throughput,
  ttftP50,
  ttftP90,
  ttftP99,
} from './goal-metrics.ts'
import { figureOf } from './judge.ts'

const seconds = { digits: 2, factor: 0.001 }
const percent = { digits: 1, factor: 100 }

const columns: readonly (ReportColumn & { readonly metric: Metric })[] = [
  { title: 'tokens/s', digits: 0, metric: throughput },
  { title: 'steady', digits: 0, metric: steadyThroughput },
  { title: 'TTFT p50 s', ...seconds, metric: ttftP50 },
  { title: 'p90', ...seconds, metric: ttftP90 },
  { title: 'p99', ...seconds, metric: ttftP99 },
  { title: 'TPOT p50 ms', digits: 1, metric: quantileMetric('TPOT p50', 'tpotMs', 0.5) },
  { title: 'task p50 s', digits: 0, factor: 0.001, metric: taskP50 },
  { title: 'slowdown max', digits: 1, metric: slowdownMax },
  { title: 'good %', ...percent, metric: goodput },
  {
    title: 'cached %',
    ...percent,
    metric: meanMetric('cached', true, ({ reuse }) => reuse.cachedShare),
  },
  {
    title: 'not served',
    digits: 0,
    metric: meanMetric('not served', false, ({ requests }) => requests.all - requests.done),
  },
]

/** One line for each arm: means over the seeds, quantiles of the samples of all. */
export function armTable(title: string, arms: readonly ArmRuns[], note: string): ReportTable {
  return {
    kind: 'table',
    title,
    columns: [{ title: 'arm' }, ...columns],
    rows: arms.map(({ name, runs }) => [
      name,
      ...columns.map(({ metric }) => figureOf(metric, runs)),
    ]),
    note,
  }
}

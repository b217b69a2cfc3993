import type { Axis, Plot } from '../plot-spec.ts'
import type { Cell, ReportColumn, ReportTable } from '../report.ts'

/** A longer table would be read by nobody; the data are in `--json`. */
const rowsMax = 120

/** The figures behind a plot, to be read off; null where there are too many. */
export function plotFigures(plot: Plot): ReportTable | null {
  const table = tableOf(plot)
  return table === null || table.rows.length > rowsMax ? null : table
}

function tableOf(plot: Plot): ReportTable | null {
  switch (plot.plot) {
    case 'line': {
      const rows = plot.series.flatMap(({ name, points }) =>
        points.map(({ x, y, low, high }): Cell[] => [name, x, interval(y, low, high)]),
      )
      return table([{ title: 'series' }, column(plot.x), column(plot.y)], rows)
    }
    case 'bars': {
      const rows = plot.categories.map((category, i): Cell[] => [
        category,
        ...plot.series.map(({ values, low, high }) =>
          interval(values[i] ?? null, low?.[i], high?.[i]),
        ),
      ])
      const columns = plot.series.map(({ name }) => ({ ...column(plot.value), title: name }))
      return { ...table([{ title: '' }, ...columns], rows), note: plot.value.label }
    }
    case 'gantt': {
      const rows = plot.rows.map(({ name, spans }): Cell[] => [
        name,
        ...plot.kinds.map((kind) =>
          spans.reduce((sum, span) => (span.kind === kind ? sum + span.to - span.from : sum), 0),
        ),
      ])
      const columns = plot.kinds.map((title) => ({ ...column(plot.x), title }))
      return { ...table([{ title: '' }, ...columns], rows), note: plot.x.label }
    }
    default:
      return null
  }
}

function table(columns: readonly ReportColumn[], rows: readonly Cell[][]): ReportTable {
  return { kind: 'table', title: '', columns, rows }
}

function column({ label, factor = 1 }: Axis): ReportColumn {
  return { title: label, digits: 3, factor }
}

function interval(
  value: number | null,
  low: number | null | undefined,
  high: number | null | undefined,
): Cell {
  if (value === null || low === undefined || high === undefined) return value
  return { value, low, high }
}

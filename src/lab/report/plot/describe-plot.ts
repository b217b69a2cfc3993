import { compactText } from '../number-text.ts'
import type { Axis, Plot } from '../plot-spec.ts'

/** A plot in words: what each series runs from and to. */
export function describePlot(plot: Plot): string {
  return `${plot.title}. ${plot.alt ?? sentences(plot).join(' ')}`
}

function sentences(plot: Plot): string[] {
  switch (plot.plot) {
    case 'line':
      return [
        `Lines of ${plot.y.label} against ${plot.x.label}.`,
        ...plot.series.map(({ name, points }) => {
          const known = points.filter(({ y }) => y !== null && Number.isFinite(y))
          const first = known[0]
          const last = known.at(-1)
          if (first === undefined || last === undefined) return `${name}: no values.`
          const at = (point: typeof first): string =>
            `${shown(point.y!, plot.y)} at ${shown(point.x, plot.x)}`
          return `${name}: ${at(first)} to ${at(last)}.`
        }),
      ]
    case 'scatter':
      return [
        `Dots of ${plot.y.label} against ${plot.x.label}.`,
        ...plot.series.map(({ name, points }) => `${name}: ${points.length} points.`),
      ]
    case 'cdf':
      return [
        `Distribution of ${plot.x.label}.`,
        ...plot.series.map(({ name, values }) => {
          const sorted = values.filter(Number.isFinite).sort((a, b) => a - b)
          if (sorted.length === 0) return `${name}: no values.`
          const at = (p: number): string =>
            shown(sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]!, plot.x)
          return `${name}: half at or below ${at(0.5)}, 90 % ${at(0.9)}, 99 % ${at(0.99)}.`
        }),
      ]
    case 'bars':
      return [
        `Bars of ${plot.value.label}.`,
        ...plot.categories.map((category, i) => {
          const values = plot.series.map(({ name, values }) => {
            const value = values[i] ?? null
            return `${name} ${value === null ? 'none' : shown(value, plot.value)}`
          })
          return `${category}: ${values.join(', ')}.`
        }),
      ]
    case 'heatmap':
      return [
        `${plot.value.label} by row over ${plot.x.label}; highest of each row.`,
        ...plot.rows.map(({ name, values }) => {
          const most = values.reduce((high: number, value) => Math.max(high, value ?? high), 0)
          return `${name}: ${shown(most, plot.value)}.`
        }),
      ]
    case 'gantt':
      return [
        `What each row did over ${plot.x.label}.`,
        ...plot.rows.map(({ name, spans }) => {
          const parts = plot.kinds.flatMap((kind) => {
            const inKind = spans.filter((span) => span.kind === kind)
            const total = inKind.reduce((sum, { from, to }) => sum + to - from, 0)
            return total > 0 ? [`${kind} ${shown(total, plot.x)}`] : []
          })
          return `${name}: ${parts.join(', ') || 'nothing'}.`
        }),
      ]
  }
}

function shown(value: number, { factor = 1 }: Axis): string {
  return compactText(value * factor)
}

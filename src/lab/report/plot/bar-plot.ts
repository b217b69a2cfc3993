import { scaleBand } from 'd3-scale'
import { element, escapeText, short, textElement } from '../markup.ts'
import { compactText } from '../number-text.ts'
import type { BarPlot } from '../plot-spec.ts'
import { type AxisScale, axisScale } from './axis-scale.ts'
import { plotWidth, svg, xTickTexts } from './frame.ts'
import { legend } from './legend.ts'
import { cutText, textWidth } from './text-width.ts'

const right = plotWidth - 40

/**
 * Bars lie: names of endpoints, models and policies are long, and lying they can be read.
 * Error bars where the series has ends for them.
 */
export function drawBarPlot(plot: BarPlot, alt: string): string {
  const { categories, series, stacked = false } = plot
  const head = legend(
    series.map(({ name }) => ({ name, swatch: 'box' })),
    plotWidth,
  )
  const thick = stacked ? 1 : series.length
  const top = head.height + 6
  const bottom = top + categories.length * (thick * 14 + 10)
  const left = 12 + Math.min(220, Math.max(30, ...categories.map(textWidth)))
  const scale = axisScale(plot.value, extentOf(plot), [left, right], 8)
  const band = scaleBand(
    categories.map((_, i) => i),
    [top, bottom],
  )
    .paddingInner(0.25)
    .paddingOuter(0.12)
  const d = scale.ticks.map(({ at }) => `M${short(at)} ${top}V${bottom}`).join('')
  let body = head.svg + element('path', { class: 'grid', fill: 'none', d })
  categories.forEach((category, i) => {
    const y = band(i)!
    const attributes = { class: 'name', x: left - 8, 'text-anchor': 'end' }
    const middle = y + band.bandwidth() / 2 + 4
    body += element('text', { ...attributes, y: middle }, escapeText(cutText(category, left - 12)))
    const row = { y, height: band.bandwidth(), index: i, category }
    body += stacked ? stackedBars(plot, row, scale) : groupedBars(plot, row, scale)
  })
  body += element('path', { class: 'axis', d: `M${short(left)} ${top}V${bottom}` })
  body += xTickTexts(scale, bottom + 16)
  const label = { x: right, y: bottom + 34, 'text-anchor': 'end' }
  return svg(bottom + 40, alt, body + textElement('text', label, plot.value.label))
}

interface BarRow {
  readonly y: number
  readonly height: number
  readonly index: number
  readonly category: string
}

function groupedBars({ series, value }: BarPlot, row: BarRow, scale: AxisScale): string {
  const height = row.height / series.length
  const bars = series.map(({ name, values, low, high }, i) => {
    const shown = values[row.index] ?? null
    if (shown === null || !scale.holds(shown)) return ''
    const y = row.y + i * height
    const said = `${row.category}, ${name}: ${compactText(shown * (value.factor ?? 1))}`
    const bar = barBetween(scale, [baseOf(scale), shown], { y, height: height - 1.5 }, i, said)
    const ends = [low?.[row.index] ?? null, high?.[row.index] ?? null] as const
    return bar + errorBar(scale, ends, y + height / 2)
  })
  return bars.join('')
}

function stackedBars({ series, value }: BarPlot, row: BarRow, scale: AxisScale): string {
  let from = 0
  const bars = series.map(({ name, values }, i) => {
    const shown = values[row.index] ?? null
    if (shown === null || !Number.isFinite(shown)) return ''
    const said = `${row.category}, ${name}: ${compactText(shown * (value.factor ?? 1))}`
    const bar = barBetween(scale, [from, from + shown], row, i, said)
    from += shown
    return bar
  })
  return bars.join('')
}

function barBetween(
  scale: AxisScale,
  [from, to]: readonly [number, number],
  { y, height }: { readonly y: number; readonly height: number },
  index: number,
  said: string,
): string {
  const ends = [scale.at(from), scale.at(to)]
  const x = Math.min(...ends)
  const place = { x, y, width: Math.max(0.75, Math.max(...ends) - x), height }
  return element('rect', { class: `bar s${index}`, ...place }, textElement('title', {}, said))
}

/** A log axis has no 0 to start from: bars start at its end. */
function baseOf(scale: AxisScale): number {
  return scale.holds(0) ? 0 : scale.low
}

function errorBar(
  scale: AxisScale,
  [low, high]: readonly [number | null, number | null],
  y: number,
): string {
  if (low === null || high === null || !scale.holds(low) || !scale.holds(high)) return ''
  const [x1, x2] = [short(scale.at(low)), short(scale.at(high))]
  const [y1, y2] = [short(y - 4), short(y + 4)]
  const d = `M${x1} ${y1}V${y2}M${x1} ${short(y)}H${x2}M${x2} ${y1}V${y2}`
  return element('path', { class: 'error', d })
}

function extentOf({ categories, series, stacked }: BarPlot): number[] {
  if (stacked) {
    return categories.map((_, i) =>
      series.reduce((total, { values }) => total + (values[i] ?? 0), 0),
    )
  }
  return series.flatMap(({ values, low = [], high = [] }) =>
    [...values, ...low, ...high].filter((value) => value !== null),
  )
}

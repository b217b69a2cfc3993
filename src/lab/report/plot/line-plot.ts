import { area, line } from 'd3-shape'
import { element, textElement } from '../markup.ts'
import { compactText } from '../number-text.ts'
import type { LinePlot, LinePoint, LineSeries } from '../plot-spec.ts'
import { XyFrame } from './frame.ts'
import { markPath } from './marks.ts'

/** With more points than this the marks would hide the line. */
const marksMax = 40

/** Lines, with a band where the points have intervals. */
export function drawLinePlot(plot: LinePlot, alt: string): string {
  const points = plot.series.flatMap((series) => series.points)
  const frame = new XyFrame({
    ...plot,
    xs: points.map(({ x }) => x),
    ys: points.flatMap(({ y, low, high }) => [y, low, high].filter(isNumber)),
    legend: plot.series.map(({ name, dashed }) => ({ name, swatch: dashed ? 'dashed' : 'line' })),
  })
  const bands = plot.series.map((series, i) => drawBand(series, i, frame))
  const lines = plot.series.map((series, i) => drawLine(series, i, frame, plot))
  return frame.draw(bands.join('') + lines.join(''), alt)
}

function drawBand({ points }: LineSeries, index: number, { x, y }: XyFrame): string {
  const shape = area<LinePoint>()
    .defined(({ low, high }) => isNumber(low) && isNumber(high) && y.holds(low) && y.holds(high))
    .x((point) => x.at(point.x))
    .y0((point) => y.at(point.low!))
    .y1((point) => y.at(point.high!))
    .digits(2)
  const d = shape(points.filter((point) => x.holds(point.x)))
  return d ? element('path', { class: `band s${index}`, d }) : ''
}

function drawLine(series: LineSeries, index: number, { x, y }: XyFrame, plot: LinePlot): string {
  const shape = line<LinePoint>()
    .defined((point) => isNumber(point.y) && y.holds(point.y))
    .x((point) => x.at(point.x))
    .y((point) => y.at(point.y!))
    .digits(2)
  const shown = series.points.filter((point) => x.holds(point.x))
  const d = shape(shown) ?? ''
  const path = element('path', { class: `line${series.dashed ? ' dashed' : ''}`, d })
  if (shown.length > marksMax) return element('g', { class: `s${index}` }, path)
  const marks = shown.flatMap((point) => {
    if (!isNumber(point.y) || !y.holds(point.y)) return []
    const [atX, atY] = [point.x * (plot.x.factor ?? 1), point.y * (plot.y.factor ?? 1)]
    const said = `${series.name}: ${compactText(atY)} at ${compactText(atX)}`
    const transform = `translate(${x.at(point.x).toFixed(2)} ${y.at(point.y).toFixed(2)})`
    const attributes = { class: 'mark', transform, d: markPath(index) }
    return [element('path', attributes, textElement('title', {}, said))]
  })
  return element('g', { class: `s${index}` }, path + marks.join(''))
}

function isNumber(value: number | null | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

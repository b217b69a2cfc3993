import { element, textElement } from '../markup.ts'
import type { ScatterPlot } from '../plot-spec.ts'
import { plotWidth, XyFrame } from './frame.ts'

/** More dots than this, of one series, are thinned evenly: they only weigh the page down. */
const dotsMax = 3_000

export function drawScatterPlot(plot: ScatterPlot, alt: string): string {
  const points = plot.series.flatMap((series) => series.points)
  const frame = new XyFrame({
    ...plot,
    xs: points.map(({ x }) => x),
    ys: points.map(({ y }) => y),
    legend: plot.series.map(({ name }) => ({ name, swatch: 'dot' })),
  })
  const dots = plot.series.map((series, i) => {
    const step = Math.max(1, Math.ceil(series.points.length / dotsMax))
    const shown = series.points.filter(
      ({ x, y }, n) => n % step === 0 && frame.x.holds(x) && frame.y.holds(y),
    )
    const circles = shown.map(({ x, y, label }) => {
      const attributes = { cx: frame.x.at(x), cy: frame.y.at(y), r: 2.75 }
      return element('circle', attributes, label && textElement('title', {}, label))
    })
    return element('g', { class: `dot s${i}` }, circles.join(''))
  })
  const diagonal = plot.diagonal ? drawDiagonal(plot, frame) : ''
  return frame.draw(diagonal + dots.join(''), alt)
}

/** y = x, as far as both axes go; its ends are looked for along the x axis. */
function drawDiagonal(plot: ScatterPlot, { x, y, top, bottom, left }: XyFrame): string {
  const all = plot.series.flatMap((series) => series.points.flatMap((point) => [point.x, point.y]))
  const held = all.filter((value) => x.holds(value) && y.holds(value))
  const inside = held.filter((value) => {
    const at = { x: x.at(value), y: y.at(value) }
    return at.x >= left && at.x <= plotWidth - 14 && at.y >= top && at.y <= bottom
  })
  if (inside.length < 2) return ''
  const low = inside.reduce((least, value) => Math.min(least, value))
  const high = inside.reduce((most, value) => Math.max(most, value))
  const ends = { x1: x.at(low), y1: y.at(low), x2: x.at(high), y2: y.at(high) }
  return element('line', { class: 'rule', ...ends })
}

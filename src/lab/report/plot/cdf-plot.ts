import { curveStepAfter, line } from 'd3-shape'
import { element } from '../markup.ts'
import type { CdfPlot } from '../plot-spec.ts'
import { XyFrame } from './frame.ts'

/** Steps drawn; with more values, every so many-th stands for those before it. */
const stepsMax = 400

export function drawCdfPlot(plot: CdfPlot, alt: string): string {
  const sorted = plot.series.map(({ values }) =>
    values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b),
  )
  const frame = new XyFrame({
    ...plot,
    y: { label: 'share of values, %', factor: 100, from: 0, to: 1 },
    xs: sorted.flatMap((values) => (values.length === 0 ? [] : [values[0]!, values.at(-1)!])),
    ys: [],
    legend: plot.series.map(({ name }) => ({ name, swatch: 'plain' })),
  })
  const lines = sorted.map((values, i) => {
    const shape = line<readonly [number, number]>()
      .x(([value]) => frame.x.at(value))
      .y(([, share]) => frame.y.at(share))
      .curve(curveStepAfter)
      .digits(2)
    const steps = stepsOf(values).filter(([value]) => frame.x.holds(value))
    return element('path', { class: `line s${i}`, d: shape(steps) ?? '' })
  })
  return frame.draw(lines.join(''), alt)
}

/** Value and share of the values up to it. */
function stepsOf(sorted: readonly number[]): [number, number][] {
  const steps: [number, number][] = sorted.length === 0 ? [] : [[sorted[0]!, 0]]
  const count = Math.min(stepsMax, sorted.length)
  for (let step = 1; step <= count; step++) {
    const rank = Math.round((step / count) * sorted.length)
    steps.push([sorted[rank - 1]!, rank / sorted.length])
  }
  return steps
}

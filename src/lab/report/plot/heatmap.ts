import { element, escapeText, textElement } from '../markup.ts'
import { compactText } from '../number-text.ts'
import type { HeatmapPlot } from '../plot-spec.ts'
import { axisScale } from './axis-scale.ts'
import { plotWidth, svg, xTickTexts } from './frame.ts'
import { cutText, textWidth } from './text-width.ts'

const shades = 24
const right = plotWidth - 14

/** Rows of cells; the stronger the colour, the more. Equal neighbours are drawn as one. */
export function drawHeatmap(plot: HeatmapPlot, alt: string): string {
  const { rows, start, step } = plot
  const columns = Math.max(1, ...rows.map(({ values }) => values.length))
  const known = rows.flatMap(({ values }) => values.filter(isNumber))
  const most = plot.value.to ?? Math.max(0, ...known)
  const least = plot.value.from ?? Math.min(0, ...known)
  const top = 34
  const height = rows.length > 16 ? 12 : 20
  const bottom = top + rows.length * height
  const left = 12 + Math.min(180, Math.max(30, ...rows.map(({ name }) => textWidth(name))))
  const ends = { from: start, to: start + columns * step }
  const scale = axisScale({ ...plot.x, ...ends }, [], [left, right], 8)
  const shadeOf = (value: number | null): number =>
    isNumber(value) && most > least ? Math.ceil((shades * (value - least)) / (most - least)) : 0
  let body = drawKey(plot, least, most)
  rows.forEach(({ name, values }, i) => {
    const y = top + i * height
    const attributes = { class: 'name', x: left - 8, y: y + height / 2 + 4, 'text-anchor': 'end' }
    body += element('text', attributes, escapeText(cutText(name, left - 12)))
    for (const [from, to, shade] of runsOf(values.map(shadeOf))) {
      if (shade <= 0) continue
      const x = scale.at(start + from * step)
      const width = scale.at(start + to * step) - x
      const place = { x, y: y + 0.5, width, height: height - 1 }
      body += element('rect', { class: 'cell', ...place, 'fill-opacity': shade / shades })
    }
  })
  const outline = { x: left, y: top, width: right - left, height: bottom - top }
  body += element('rect', { class: 'none', ...outline }) + xTickTexts(scale, bottom + 16)
  const label = { x: right, y: bottom + 34, 'text-anchor': 'end' }
  return svg(bottom + 40, alt, body + textElement('text', label, plot.x.label))
}

function drawKey({ value }: HeatmapPlot, least: number, most: number): string {
  const { factor = 1, label } = value
  const boxes = Array.from({ length: 6 }, (_, i) =>
    element('rect', {
      class: 'cell',
      x: i * 16,
      y: 3,
      width: 16,
      height: 12,
      'fill-opacity': i / 5,
    }),
  )
  const outline = element('rect', { class: 'none', x: 0, y: 3, width: 96, height: 12 })
  const text = `${compactText(least * factor)} to ${compactText(most * factor)}: ${label}`
  return boxes.join('') + outline + textElement('text', { class: 'name', x: 104, y: 13 }, text)
}

/** First column, column after the last, shade. */
function runsOf(values: readonly number[]): [number, number, number][] {
  const runs: [number, number, number][] = []
  values.forEach((shade, i) => {
    const last = runs.at(-1)
    if (last?.[2] === shade) last[1] = i + 1
    else runs.push([i, i + 1, shade])
  })
  return runs
}

function isNumber(value: number | null): value is number {
  return value !== null && Number.isFinite(value)
}

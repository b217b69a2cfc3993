import { element, escapeText, short, textElement } from '../markup.ts'
import { compactText } from '../number-text.ts'
import type { GanttPlot } from '../plot-spec.ts'
import { axisScale } from './axis-scale.ts'
import { plotWidth, svg, xTickTexts } from './frame.ts'
import { legend } from './legend.ts'
import { cutText, textWidth } from './text-width.ts'

const rowHeight = 18
const right = plotWidth - 14

/** What each row did when. */
export function drawGantt(plot: GanttPlot, alt: string): string {
  const head = legend(
    plot.kinds.map((name) => ({ name, swatch: 'box' })),
    plotWidth,
  )
  const top = head.height + 4
  const bottom = top + plot.rows.length * rowHeight + 4
  const left = 12 + Math.min(220, Math.max(30, ...plot.rows.map(({ name }) => textWidth(name))))
  const spans = plot.rows.flatMap((row) => row.spans)
  const times = spans.flatMap(({ from, to }) => [from, to])
  const scale = axisScale(plot.x, times, [left, right], 8)
  const d = scale.ticks.map(({ at }) => `M${short(at)} ${top}V${short(bottom)}`).join('')
  let body = head.svg + element('path', { class: 'grid', fill: 'none', d })
  plot.rows.forEach((row, i) => {
    const y = top + 4 + i * rowHeight
    const attributes = { class: 'name', x: left - 8, y: y + 11, 'text-anchor': 'end' }
    body += element('text', attributes, escapeText(cutText(row.name, left - 12)))
    for (const { kind, from, to } of row.spans) {
      const x = scale.at(from)
      const width = Math.max(0.75, scale.at(to) - x)
      const said = `${kind}, ${compactText((to - from) * (plot.x.factor ?? 1))}`
      const place = { x, y, width, height: rowHeight - 5 }
      const colour = `bar s${plot.kinds.indexOf(kind)}`
      body += element('rect', { class: colour, ...place }, textElement('title', {}, said))
    }
  })
  body += element('path', { class: 'axis', d: `M${short(left)} ${top}V${short(bottom)}` })
  body += xTickTexts(scale, bottom + 16)
  const label = { x: right, y: bottom + 34, 'text-anchor': 'end' }
  return svg(bottom + 40, alt, body + textElement('text', label, plot.x.label))
}

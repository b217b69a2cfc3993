import { element, escapeText, textElement } from './markup.ts'
import { drawPlot } from './plot/draw-plot.ts'
import { plotFigures } from './plot/plot-figures.ts'
import type { Plot } from './plot-spec.ts'
import { renderTable } from './render-table.ts'
import type { Provenance, Report, ReportPart } from './report.ts'
import { style } from './style.ts'

/** Nothing but the page's own style is ever loaded or run, whatever gets into it. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

/**
 * A report as one HTML file that needs nothing else: no script, no network. The same report makes
 * the same bytes.
 */
export function renderReport(report: Report): string {
  const { title, summary, provenance, sections } = report
  const tag = provenance.simulated ? ` ${textElement('span', { class: 'tag' }, 'simulated')}` : ''
  const body = [
    `<header><h1>${escapeText(title)}${tag}</h1>`,
    textElement('p', { class: 'summary' }, summary),
    `${renderProvenance(provenance)}</header>`,
    '<main>',
    ...sections.map(
      (section) =>
        `<section>${textElement('h2', {}, section.title)}\n` +
        `${section.parts.map(renderPart).join('\n')}</section>`,
    ),
    '</main>',
    `<footer>Made by warmpath ${escapeText(provenance.version)}.</footer>`,
  ]
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeText(policy)}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
${textElement('title', {}, title)}
<style>${style}</style></head>
<body>
${body.join('\n')}
</body></html>
`
}

function renderProvenance(provenance: Provenance): string {
  const { version, command, date, seeds, traceHash, device } = provenance
  const entries: (readonly [string, string])[] = [
    ['Version', escapeText(version)],
    ['Command', textElement('code', {}, command)],
  ]
  if (date !== null) entries.push(['Date', escapeText(date)])
  if (seeds.length > 0) entries.push(['Seeds', escapeText(seedText(seeds))])
  if (traceHash !== null) entries.push(['Traffic', textElement('code', {}, traceHash)])
  if (device !== null) entries.push(['Device', escapeText(device)])
  const items = entries.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`)
  return element('dl', { class: 'provenance' }, items.join(''))
}

function seedText(seeds: readonly number[]): string {
  const [first] = seeds
  const inRow = seeds.length > 2 && seeds.every((seed, i) => seed === first! + i)
  return inRow ? `${first} to ${seeds.at(-1)}` : seeds.join(', ')
}

function renderPart(part: ReportPart): string {
  switch (part.kind) {
    case 'text':
      return textElement('p', {}, part.text)
    case 'table':
      return renderTable(part)
    case 'plot':
      return renderPlot(part)
  }
}

function renderPlot(plot: Plot): string {
  const { title, note } = plot
  const figures = plotFigures(plot)
  const caption = textElement('figcaption', {}, title)
  const below = note === undefined ? '' : textElement('p', { class: 'note' }, note)
  const details =
    figures === null
      ? ''
      : `<details><summary>The figures</summary>${renderTable(figures)}</details>`
  return `<figure>${caption}${drawPlot(plot)}${below}${details}</figure>`
}

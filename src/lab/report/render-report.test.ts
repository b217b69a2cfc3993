import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findChromium, openInChromium } from '../../../test/support/chromium.ts'
import { sampleReport } from '../../../test/support/sample-report.ts'
import type { Plot } from './plot-spec.ts'
import { renderReport } from './render-report.ts'
import type { Report } from './report.ts'

const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>&amp;\u0000\u001b\ud800`

test('the same report makes the same page', () => {
  assert.equal(renderReport(sampleReport('warmpath')), renderReport(sampleReport('warmpath')))
})

test('hostile text stays text, wherever it stands', () => {
  const page = renderReport(sampleReport(hostile))
  for (const bad of ['<script', '<img', '\u0000', '\u001b']) assert.ok(!page.includes(bad), bad)
  assert.ok(page.isWellFormed())
  assert.match(page, /&lt;script&gt;alert\(1\)/)
})

test('a page names nothing that would be fetched', () => {
  const page = renderReport(sampleReport('warmpath')).replaceAll('http://www.w3.org/2000/svg', '')
  assert.doesNotMatch(page, /\bsrc=|url\(|@import|<link(?! rel="icon" href="data:,")|https:/)
})

test('every number of a table stands in the page unrounded', () => {
  const report = sampleReport('warmpath')
  const numbers = new Set<number>()
  JSON.stringify(report, (_, value) => {
    if (typeof value === 'number') numbers.add(value)
    return value
  })
  const page = renderReport({ ...report, sections: report.sections.slice(0, 1) })
  const shown = [...page.matchAll(/<data value="([^"]+)">([^<]+)</g)]
  assert.deepEqual(
    shown.map(([, , text]) => text),
    ['12,031', '17.39', '43.1', '12,031', '2.47', '97.3', '0.14', '0.13', '0.15', '0'],
  )
  for (const [, value] of shown) assert.ok(numbers.has(Number(value)), value)
})

test('every plot has a text alternative that names its series', () => {
  const page = renderReport(sampleReport('warmpath'))
  const alternatives = [...page.matchAll(/<svg [^>]*role="img" aria-label="([^"]+)"/g)]
  const plots = plotsOf(sampleReport('warmpath'))
  assert.equal(alternatives.length, plots.length)
  for (const [i, plot] of plots.entries()) {
    const text = alternatives[i]![1]!
    assert.ok(text.startsWith(plot.title), text)
    if (plot.plot !== 'scatter') assert.match(text, /warmpath/)
  }
})

test('plots without a value, with one, with zeros on a log axis still draw', () => {
  const report = sampleReport('warmpath')
  const parts = plotsOf(report).flatMap((plot) => [withValues(plot, []), withValues(plot, [0])])
  const page = renderReport({ ...report, sections: [{ title: 'Odd', parts }] })
  assert.equal(page.match(/<svg /g)?.length, parts.length)
  assert.doesNotMatch(page, /NaN|Infinity|undefined/)
})

test('more series than can be told apart are refused by name', () => {
  const report = sampleReport('warmpath')
  const series = Array.from({ length: 9 }, (_, i) => ({ name: `s${i}`, values: [i] }))
  const plot: Plot = { kind: 'plot', plot: 'cdf', title: 'Many', x: { label: 'x' }, series }
  assert.throws(
    () => renderReport({ ...report, sections: [{ title: '', parts: [plot] }] }),
    new RangeError("'Many' has 9 series; 8 can be told apart"),
  )
})

const chromium = findChromium()
const skip = chromium === null && 'no chromium on this machine'

test('Chromium opens a hostile report without a complaint', { skip }, async () => {
  const { dom, console } = await openInChromium(chromium!, renderReport(sampleReport(hostile)))
  assert.deepEqual(console, [])
  assert.equal(dom.match(/<svg /g)?.length, plotsOf(sampleReport('x')).length)
  assert.doesNotMatch(dom, /<script|<img/)
})

test('Chromium complains of a page that would fetch something', { skip }, async () => {
  const page = renderReport(sampleReport('x')).replace('<main>', '<img src="http://x.test/">')
  const { console } = await openInChromium(chromium!, page)
  assert.equal(console.length, 1)
  assert.match(console[0]!, /Content Security Policy/)
})

function plotsOf(report: Report): Plot[] {
  return report.sections.flatMap(({ parts }) => parts.filter((part) => part.kind === 'plot'))
}

/** The same plot with these values only. */
function withValues(plot: Plot, values: number[]): Plot {
  switch (plot.plot) {
    case 'line':
    case 'scatter': {
      const points = values.map((value) => ({ x: value, y: value }))
      return { ...plot, rules: [], series: [{ name: 'one', points }] }
    }
    case 'cdf':
      return { ...plot, series: [{ name: 'one', values }] }
    case 'bars':
      return { ...plot, categories: values.map(String), series: [{ name: 'one', values }] }
    case 'heatmap':
      return { ...plot, rows: [{ name: 'one', values }] }
    case 'gantt':
      return { ...plot, rows: [{ name: 'one', spans: values.map((at) => spanAt(at)) }] }
  }
}

function spanAt(at: number): { kind: string; from: number; to: number } {
  return { kind: 'queue', from: at, to: at }
}

import { element, escapeText, textElement } from './markup.ts'
import { fixedText } from './number-text.ts'
import type { Cell, ReportColumn, ReportTable } from './report.ts'

/** A table as HTML. Each number stands in a `data` element with its unrounded value. */
export function renderTable({ title, columns, rows, note }: ReportTable): string {
  const heads = columns.map((column) =>
    textElement('th', { scope: 'col', class: classOf(column) }, column.title),
  )
  const lines = rows.map((row) => {
    const cells = columns.map((column, i) =>
      element('td', { class: classOf(column) }, cellMarkup(row[i] ?? null, column)),
    )
    return `<tr>${cells.join('')}</tr>`
  })
  const caption = title === '' ? '' : textElement('caption', {}, title)
  const head = `<thead><tr>${heads.join('')}</tr></thead>`
  const body = `<tbody>\n${lines.join('\n')}\n</tbody>`
  const below = note === undefined ? '' : textElement('p', { class: 'note' }, note)
  return `<div class="wide"><table>${caption}${head}${body}</table></div>${below}`
}

/** A cell as text: what the terminal shows, too. */
export function cellText(cell: Cell, column: ReportColumn): string {
  return cellParts(cell, column, (_, text) => text)
}

function cellMarkup(cell: Cell, column: ReportColumn): string {
  return cellParts(cell, column, (value, text) =>
    value === null ? escapeText(text) : textElement('data', { value: String(value) }, text),
  )
}

function cellParts(
  cell: Cell,
  { digits, factor = 1 }: ReportColumn,
  part: (value: number | null, text: string) => string,
): string {
  if (typeof cell === 'string') return part(null, cell)
  if (cell === null) return part(null, '–')
  const number = (value: number): string =>
    part(
      Number.isFinite(value) ? value : null,
      digits === undefined ? plainText(value * factor) : fixedText(value, digits, factor),
    )
  if (typeof cell === 'number') return number(cell)
  const { value, low, high } = cell
  if (low === null || high === null) return number(value)
  return `${number(value)} [${number(low)}, ${number(high)}]`
}

/** Where the column does not say: as it is, to three decimals. */
function plainText(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 })
}

function classOf({ digits }: ReportColumn): string | undefined {
  return digits === undefined ? undefined : 'n'
}

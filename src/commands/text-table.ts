/** Cells of one row. A null is shown as a dash: not known, or none. */
export type Row = readonly (string | number | null)[]

export interface Column {
  readonly title: string
  /** Numbers stand right. */
  readonly align?: 'left' | 'right'
}

/**
 * Rows in aligned columns, two spaces apart, without borders: made for reading and for `awk`.
 * Numbers get thousands separators; a column of numbers stands right unless told otherwise.
 */
export function textTable(columns: readonly (string | Column)[], rows: readonly Row[]): string {
  const heads = columns.map((column) => (typeof column === 'string' ? { title: column } : column))
  const cells = rows.map((row) => heads.map((_, i) => cellText(row[i] ?? null)))
  const widths = heads.map((head, i) =>
    Math.max(head.title.length, ...cells.map((row) => row[i].length)),
  )
  const right = heads.map(
    (head, i) =>
      (head.align ?? (isNumeric(rows.map((row) => row[i])) ? 'right' : 'left')) === 'right',
  )
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => {
        const pad = ' '.repeat(widths[i] - cell.length)
        return right[i] ? pad + cell : cell + pad
      })
      .join('  ')
      .trimEnd()
  return [heads.map((head) => head.title), ...cells].map(line).join('\n')
}

function cellText(cell: string | number | null): string {
  if (cell === null) return '-'
  if (typeof cell === 'string') return cell
  return cell.toLocaleString('en-US', { maximumFractionDigits: 3 })
}

function isNumeric(column: readonly (string | number | null | undefined)[]): boolean {
  const known = column.filter((cell) => cell !== null && cell !== undefined)
  return known.length > 0 && known.every((cell) => typeof cell === 'number')
}

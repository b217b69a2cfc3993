/** Numbers for readers. */

/** `1,234.50`; a dash for what is not a number. */
export function fixedText(value: number | null, digits: number, factor = 1): string {
  if (value === null || !Number.isFinite(value)) return '–'
  // A rounded nothing is not below nothing.
  const shown = Number((value * factor).toFixed(digits)) + 0
  return shown.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

const suffixes = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

/** Three significant digits, as `12.3k`: for axes and descriptions. */
export function compactText(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  if (size < 9_999.5) return String(Number(value.toPrecision(size >= 1_000 ? 4 : 3)))
  const [unit, suffix] = suffixes.find(([from]) => size >= from * 0.9995) ?? suffixes[3]
  return `${Number((value / unit).toPrecision(3))}${suffix}`
}

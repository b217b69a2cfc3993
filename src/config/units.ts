/** Durations and sizes as people write them: `30s`, `500ms`, `32MiB`. */

const durationUnits = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const
const sizeUnits = { B: 1, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 } as const

function read(text: string, units: Readonly<Record<string, number>>): number | null {
  if (text === '0') return 0
  const match = /^(\d+(?:\.\d+)?) ?([A-Za-z]+)$/.exec(text)
  const unit = match === null ? undefined : units[match[2]]
  return match === null || unit === undefined ? null : Math.round(Number(match[1]) * unit)
}

/** The largest unit that divides the number: `32MiB`, not `33554432B`. */
function write(value: number, units: Readonly<Record<string, number>>): string {
  if (value === 0) return '0'
  let text = ''
  for (const [unit, factor] of Object.entries(units)) {
    if (value % factor === 0) text = `${value / factor}${unit}`
  }
  return text
}

/** Milliseconds; null when it is not a duration. A bare number has no unit, so it is none. */
export function parseDurationMs(text: string): number | null {
  return read(text, durationUnits)
}

/** Bytes; null when it is not a size. */
export function parseSizeBytes(text: string): number | null {
  return read(text, sizeUnits)
}

export function formatDurationMs(ms: number): string {
  return write(ms, durationUnits)
}

export function formatSizeBytes(bytes: number): string {
  return write(bytes, sizeUnits)
}

/** Prometheus' text format, as much of it as reading a few series needs. */

export interface Sample {
  /** Between the braces, unread; '' for none. */
  readonly labels: string
  readonly value: number
}

const comment = 0x23

/**
 * The samples of the names asked for, in the page's order. Values that are no finite numbers are
 * left out: a NaN says nothing.
 */
export function readSamples(page: string, names: ReadonlySet<string>): Map<string, Sample[]> {
  const found = new Map<string, Sample[]>()
  for (let start = 0; start < page.length; ) {
    const newline = page.indexOf('\n', start)
    const end = newline < 0 ? page.length : newline
    if (page.charCodeAt(start) !== comment) {
      const name = page.slice(start, nameEnd(page, start, end))
      if (names.has(name)) add(found, name, page.slice(start + name.length, end))
    }
    start = end + 1
  }
  return found
}

/** A name ends at its labels or at the blank before its value. */
function nameEnd(page: string, start: number, end: number): number {
  let at = start
  while (at < end) {
    const code = page.charCodeAt(at)
    if (code === 0x7b || code === 0x20 || code === 0x09) break
    at++
  }
  return at
}

/** `rest` is ` 3.0`, or `{a="b"} 3.0`, either with a timestamp behind the value. */
function add(found: Map<string, Sample[]>, name: string, rest: string): void {
  const close = rest.startsWith('{') ? rest.lastIndexOf('}') : -1
  const text = rest
    .slice(close + 1)
    .trim()
    .split(/\s/, 1)[0]
  const value = text === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(value)) return
  const sample = { labels: close < 0 ? '' : rest.slice(1, close), value }
  const samples = found.get(name)
  if (samples === undefined) found.set(name, [sample])
  else samples.push(sample)
}

const labelPattern = /([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"/g

/** The value of one label; null when the series has not that label. */
export function labelValue(labels: string, name: string): string | null {
  for (const [, key, value] of labels.matchAll(labelPattern)) {
    if (key === name) return value.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c))
  }
  return null
}

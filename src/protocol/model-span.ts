/** Where a body names its model, so that an alias can be put in place without touching the rest. */

/** Byte offsets in a body: `start` inclusive, `end` exclusive. */
export interface ByteSpan {
  readonly start: number
  readonly end: number
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a

/**
 * Finds the value of the top-level `model` of a body that is known to be a JSON object. Of
 * duplicate keys the last counts, as in every JSON parser. Null when there is none, or when its
 * value is no string.
 */
export function findModelSpan(body: Buffer): ByteSpan | null {
  let span: ByteSpan | null = null
  let at = body.indexOf('{') + 1
  while (at < body.length) {
    at = skipBlank(body, at)
    if (body[at] === comma) at = skipBlank(body, at + 1)
    if (body[at] !== quote) break
    const keyEnd = skipString(body, at)
    const isModel = keyIsModel(body, at, keyEnd)
    const start = skipBlank(body, skipBlank(body, keyEnd) + 1)
    if (body[skipBlank(body, keyEnd)] !== colon) break
    const end = skipValue(body, start)
    if (isModel) {
      span = body[start] === quote ? { start, end } : null
      if (!mayFollow(body, end)) break
    }
    at = end
  }
  return span
}

/** Whether another `model` key can come: only if its letters do, plain or escaped. */
function mayFollow(body: Buffer, from: number): boolean {
  return body.includes('"model"', from) || body.includes('\\u00', from)
}

function keyIsModel(body: Buffer, start: number, end: number): boolean {
  const raw = body.toString('latin1', start, end)
  return raw === '"model"' || (raw.includes('\\') && JSON.parse(raw) === 'model')
}

function skipBlank(body: Buffer, from: number): number {
  let at = from
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++
  return at
}

/** Behind the closing quote of the string that begins at `from`. */
function skipString(body: Buffer, from: number): number {
  let at = from + 1
  while (at < body.length) {
    const byte = body[at]
    if (byte === quote) return at + 1
    at += byte === backslash ? 2 : 1
  }
  return at
}

/** Behind the value that begins at `from`. */
function skipValue(body: Buffer, from: number): number {
  let at = from
  let depth = 0
  while (at < body.length) {
    const byte = body[at]
    if (byte === quote) {
      at = skipString(body, at)
      if (depth === 0) return at
      continue
    }
    if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (byte === comma || byte === 0x20 || byte === 0x0a)) return at
    at++
  }
  return at
}

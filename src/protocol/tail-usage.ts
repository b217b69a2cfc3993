/** The `usage` object in the last part of a JSON text, without parsing the text. */
import { type Json, parseJson } from './json.ts'

/** Undefined when the tail holds no usage, or the object began before it. */
export function findTailUsage(tail: string): Json | undefined {
  const key = tail.lastIndexOf('"usage"')
  if (key < 0) return undefined
  const start = tail.indexOf('{', key)
  if (start < 0) return undefined
  let depth = 0
  for (let at = start; at < tail.length; at++) {
    if (tail[at] === '{') depth++
    else if (tail[at] === '}' && --depth === 0) return parseJson(tail.slice(start, at + 1))
  }
  return undefined
}

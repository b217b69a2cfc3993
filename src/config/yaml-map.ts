/** A YAML (or JSON) file that is a map, with the place of each of its values. */
import type { Document } from 'yaml'
import { isMap, isNode, isPair, LineCounter, parseDocument, visit } from 'yaml'
import type { Problem } from './problem.ts'

export type Path = readonly PropertyKey[]

export type YamlMap =
  | {
      readonly ok: true
      readonly values: Readonly<Record<string, unknown>>
      /** `file:line:column` of a key or an item; of what should hold it where there is none. */
      readonly at: (path: Path) => string
    }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/**
 * An empty file is an empty map.
 * @param file its name, for the messages
 * @param expected what the file should hold, in words
 */
export function readYamlMap(file: string, text: string, expected: string): YamlMap {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const wrong = (faults: readonly { readonly offset: number; readonly message: string }[]) => ({
    ok: false as const,
    problems: faults.map(({ offset, message }): Problem => {
      return { source: 'file', where: at(offset), key: '', message }
    }),
  })
  if (document.errors.length > 0) {
    return wrong(document.errors.map(({ pos, message }) => ({ offset: pos[0], message })))
  }
  const danglers = danglingAliases(document)
  if (danglers.length > 0) return wrong(danglers)
  if (document.contents !== null && !isMap(document.contents)) {
    return wrong([{ offset: document.contents.range?.[0] ?? 0, message: `expects ${expected}` }])
  }
  const values = plainValue(document)
  if (values === null) {
    return wrong([{ offset: 0, message: 'repeats itself too often by anchors and aliases' }])
  }
  return { ok: true, values, at: (path) => at(offsetOf(document, path)) }
}

/** Null where aliases would multiply into more than the library expands. */
function plainValue(document: Document): Record<string, unknown> | null {
  try {
    return (document.toJS() ?? {}) as Record<string, unknown>
  } catch {
    return null
  }
}

/** Aliases without an anchor, and those that stand inside what they name. */
function danglingAliases(
  document: Document,
): { readonly offset: number; readonly message: string }[] {
  const danglers: { offset: number; message: string }[] = []
  visit(document, {
    Alias: (_, alias, ancestors) => {
      const named = alias.resolve(document)
      if (named !== undefined && !ancestors.includes(named)) return
      const message = `*${alias.source} refers to no anchor before it`
      danglers.push({ offset: alias.range?.[0] ?? 0, message })
    },
  })
  return danglers
}

/** Where a key, or an item of a list, begins; where there is none, what should hold it. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true)
    const last = path[length - 1]
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && String(item.key) === String(last))
      if (pair !== undefined && isNode(pair.key) && pair.key.range) return pair.key.range[0]
    }
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

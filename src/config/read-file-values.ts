/** The text of `warmpath.yaml` as checked values, each problem with its line and column. */

import type { Document } from 'yaml'
import { isMap, isNode, isPair, LineCounter, parseDocument, visit } from 'yaml'
import type { z } from 'zod'
import { namedOptions } from './config.ts'
import { didYouMean } from './did-you-mean.ts'
import { endpointSpecKeys } from './endpoint-spec.ts'
import type { Problem } from './problem.ts'
import { quoteValue } from './problem.ts'

type Path = readonly PropertyKey[]

export interface FileValues {
  /** By the option's key in the file; only what the file holds and is valid. */
  readonly values: ReadonlyMap<string, unknown>
  readonly problems: readonly Problem[]
}

/** @param file its name, for the messages */
export function readFileValues(file: string, text: string): FileValues {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, message }): Problem => {
      return { source: 'file', where: at(pos[0]), key: '', message }
    })
    return { values: new Map(), problems }
  }
  const danglers = danglingAliases(document)
  if (danglers.length > 0) {
    const problems = danglers.map(({ offset, name }): Problem => {
      const message = `*${name} refers to no anchor before it`
      return { source: 'file', where: at(offset), key: '', message }
    })
    return { values: new Map(), problems }
  }
  if (document.contents !== null && !isMap(document.contents)) {
    const message = 'expects a map of options, such as `port: 8080`'
    const where = at(document.contents.range?.[0] ?? 0)
    return { values: new Map(), problems: [{ source: 'file', where, key: '', message }] }
  }
  const raw = plainValue(document)
  if (raw === null) {
    const message = 'repeats itself too often by anchors and aliases'
    return { values: new Map(), problems: [{ source: 'file', where: at(0), key: '', message }] }
  }
  return checkValues(raw, (path) => at(offsetOf(document, path)))
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
function danglingAliases(document: Document): { readonly offset: number; readonly name: string }[] {
  const danglers: { offset: number; name: string }[] = []
  visit(document, {
    Alias: (_, alias, ancestors) => {
      const named = alias.resolve(document)
      if (named !== undefined && !ancestors.includes(named)) return
      danglers.push({ offset: alias.range?.[0] ?? 0, name: alias.source })
    },
  })
  return danglers
}

function checkValues(
  raw: Readonly<Record<string, unknown>>,
  at: (path: Path) => string,
): FileValues {
  const values = new Map<string, unknown>()
  const problems: Problem[] = []
  const keys = namedOptions.map(({ key }) => key)
  for (const [key, value] of Object.entries(raw)) {
    const named = namedOptions.find((each) => each.key === key)
    if (named === undefined) {
      const message = unknownKeyMessage(key, keys)
      problems.push({ source: 'file', where: at([key]), key, message })
      continue
    }
    const parsed = named.option.schema.safeParse(value)
    if (parsed.success) values.set(key, parsed.data)
    else {
      for (const { path, message } of describeIssues(value, parsed.error)) {
        const whole = [key, ...path]
        problems.push({ source: 'file', where: at(whole), key: renderPath(whole), message })
      }
    }
  }
  return { values, problems }
}

function unknownKeyMessage(key: string, known: readonly string[]): string {
  const near = didYouMean(key, known)
  return near === null
    ? 'is not an option: see docs/reference/options.md'
    : `is not an option; did you mean ${near}?`
}

/** A schema's findings as places inside the value and sentences for the operator. */
export function describeIssues(
  value: unknown,
  error: z.ZodError,
): { readonly path: Path; readonly message: string }[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...issue.path, key],
        message: unknownKeyMessage(key, endpointSpecKeys),
      }))
    }
    // A bare URL stands for a map with it, so a path may lead past the text.
    const found = issue.path.reduce<unknown>(
      (inner, step) =>
        typeof inner === 'string' ? inner : (inner as Record<PropertyKey, unknown>)?.[step],
      value,
    )
    const got = found === undefined ? '' : `; got ${quoteValue(found)}`
    return [{ path: issue.path, message: `${issue.message}${got}` }]
  })
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

/** `endpoints[1].url`. */
function renderPath(path: Path): string {
  return path
    .map((step, i) =>
      typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${String(step)}`,
    )
    .map(String)
    .join('')
}

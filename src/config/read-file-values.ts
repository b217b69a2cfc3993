/** The text of `warmpath.yaml` as checked values, each problem with its line and column. */

import type { z } from 'zod'
import { namedOptions } from './config.ts'
import { didYouMean } from './did-you-mean.ts'
import { endpointSpecKeys } from './endpoint-spec.ts'
import type { Problem } from './problem.ts'
import { quoteValue } from './problem.ts'
import { type Path, readYamlMap } from './yaml-map.ts'

export interface FileValues {
  /** By the option's key in the file; only what the file holds and is valid. */
  readonly values: ReadonlyMap<string, unknown>
  readonly problems: readonly Problem[]
}

/** @param file its name, for the messages */
export function readFileValues(file: string, text: string): FileValues {
  const map = readYamlMap(file, text, 'a map of options, such as `port: 8080`')
  return map.ok ? checkValues(map.values, map.at) : { values: new Map(), problems: map.problems }
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

/** `endpoints[1].url`. */
function renderPath(path: Path): string {
  return path
    .map((step, i) =>
      typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${String(step)}`,
    )
    .map(String)
    .join('')
}

/** An engine profile as a file: YAML or JSON, written by `warmpath calibrate` or by hand. */
import { z } from 'zod'
import { didYouMean } from '../../config/did-you-mean.ts'
import { type Problem, quoteValue } from '../../config/problem.ts'
import { readYamlMap } from '../../config/yaml-map.ts'
import { type EngineProfile, profileDefaults } from './profile.ts'

export type ProfileFile =
  | { readonly ok: true; readonly profile: EngineProfile }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** `{value: 3.1, error: 0.2}`, as a measurement is written, is as good as `3.1`. */
function measured<Schema extends z.ZodType>(schema: Schema) {
  const isMeasured = (value: unknown): value is { readonly value: unknown } =>
    typeof value === 'object' && value !== null && 'value' in value
  return z.preprocess((value) => (isMeasured(value) ? value.value : value), schema)
}

const text = z.string({ error: 'expects a text' }).min(1, { error: 'expects a text' })
const amount = (unit: string, example: number) => {
  const error = `expects a number of at least 0 (${unit}), such as ${example}`
  return measured(z.number({ error }).nonnegative({ error }))
}
const count = (min: number, unit: string) => {
  const error = `expects a whole number of at least ${min} (${unit})`
  return measured(z.int({ error }).min(min, { error }))
}

/** What each key of a profile may be. */
const fields: Readonly<Record<keyof EngineProfile, z.ZodType>> = {
  name: text,
  model: text,
  source: text,
  t0Ms: amount('ms', 6.9),
  prefillMsPerToken: amount('ms per token', 0.024),
  pairMs: amount('ms per pair of tokens', 1.1e-6),
  contextMsPerToken: amount('ms per token', 6e-5),
  logicalContextMsPerToken: amount('ms per token', 9e-6),
  perSequenceMs: amount('ms', profileDefaults.perSequenceMs),
  kvTokens: count(1, 'tokens'),
  blockTokens: count(1, 'tokens'),
  batchTokensMax: count(1, 'tokens'),
  runningMax: count(1, 'sequences'),
  contextTokensMax: count(2, 'tokens'),
  hostTokens: count(0, 'tokens'),
  hostReloadMsPerToken: amount('ms per token', 0.0026),
  ingressMs: amount('ms', 5),
  ingressMsPerToken: amount('ms per token', 0.001),
  hitsInFlight: z.boolean({ error: 'expects true or false' }),
  pricePerHour: amount('dollars', 3),
}

/** How the numbers came about: for people, and not read. */
const unread = ['measured', 'fit']

const defaults: Readonly<Partial<EngineProfile>> = {
  ...profileDefaults,
  source: 'A profile file that does not say where its numbers come from.',
  pricePerHour: 0,
}

/** @param file its name, for the messages */
export function readProfileFile(file: string, content: string): ProfileFile {
  const expected = 'a profile: a map of numbers, such as `t0Ms: 6.9`'
  const map = readYamlMap(file, content, expected)
  if (!map.ok) return map
  const { values, at } = map
  const problems: Problem[] = []
  const problem = (key: string, message: string): void => {
    problems.push({ source: 'file', where: at([key]), key, message })
  }
  const profile: Record<string, unknown> = { ...defaults }
  for (const [key, value] of Object.entries(values)) {
    if (unread.includes(key)) continue
    if (!isField(key)) {
      problem(key, unknownKey(key))
      continue
    }
    const parsed = fields[key].safeParse(value)
    if (parsed.success) profile[key] = parsed.data
    else problem(key, `${parsed.error.issues[0]!.message}; got ${quoteValue(value)}`)
  }
  for (const key of Object.keys(fields)) {
    if (profile[key] === undefined && !(key in values)) problem(key, 'is missing')
  }
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, profile: profile as unknown as EngineProfile }
}

function isField(key: string): key is keyof EngineProfile {
  return Object.hasOwn(fields, key)
}

function unknownKey(key: string): string {
  const known = Object.keys(fields)
  const near = didYouMean(key, known)
  const hint = near === null ? `there are ${known.join(', ')}` : `did you mean ${near}?`
  return `is no part of a profile; ${hint}`
}

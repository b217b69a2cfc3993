/** The kinds of options: how each is read, checked, and written in the reference. */
import { z } from 'zod'
import type { EndpointSpec } from './endpoint-spec.ts'
import { endpointListSchema } from './endpoint-spec.ts'
import { formatDurationMs, formatSizeBytes, parseDurationMs, parseSizeBytes } from './units.ts'

type OptionGroup =
  | 'Fleet'
  | 'Server'
  | 'Routing'
  | 'Limits on clients'
  | 'Limits on engines'
  | 'Health'
  | 'Answers'
  | 'Logs'

/** What each option says of itself. */
interface Description<Value> {
  readonly group: OptionGroup
  /** One line, for `--help` and the reference. */
  readonly summary: string
  /** Why one would change it, and what follows; for the reference only. */
  readonly detail?: string
  readonly default: Value
  /** It is read once: a new value in the file waits for the next start. */
  readonly needsRestart?: true
}

export interface Option<Value> extends Description<Value> {
  /** Unit at the end of the name in `Config`; files and flags carry it in the value instead. */
  readonly unitSuffix: '' | 'Ms' | 'Bytes'
  /** What a valid value looks like: `a whole number from 1 to 65535`. */
  readonly expects: string
  /** Stands for the value in `--help`; empty for a flag that takes none. */
  readonly placeholder: string
  /** An example for the file's reference, as YAML. */
  readonly example: string
  /** Checks a value of the file. Its messages say what is expected. */
  readonly schema: z.ZodType<Value>
  /** A flag's or environment variable's text as the file would hold it. */
  fromText(text: string): unknown
  /** For the reference. */
  toText(value: Value): string
}

const anything = (text: string): unknown => text

/** Text that may be left out: null. */
export function text(
  about: Description<string | null> & { expects: string; placeholder: string; example: string },
): Option<string | null> {
  const schema = z.string({ error: `expects ${about.expects}` }).min(1, {
    error: `expects ${about.expects}`,
  })
  return {
    ...about,
    unitSuffix: '',
    schema,
    fromText: anything,
    toText: (value) => value ?? 'none',
  }
}

interface Range {
  readonly min: number
  readonly max: number
}

/** A whole number, or with `fraction` any number, within a range. */
export function number(about: Description<number> & Range & { fraction?: true }): Option<number> {
  const what = about.fraction ? 'a number' : 'a whole number'
  const expects = `${what} from ${about.min} to ${about.max}`
  const error = `expects ${expects}`
  const base = about.fraction ? z.number({ error }) : z.int({ error })
  return {
    ...about,
    unitSuffix: '',
    expects,
    placeholder: '<number>',
    example: String(about.default),
    schema: base.min(about.min, { error }).max(about.max, { error }),
    fromText: (given) => (/^-?\d+(\.\d+)?$/.test(given) ? Number(given) : given),
    toText: String,
  }
}

/** A duration with its unit: `30s`. */
export function duration(about: Description<number> & Range): Option<number> {
  const range = `${formatDurationMs(about.min)} to ${formatDurationMs(about.max)}`
  const expects = `a duration from ${range}, such as 500ms, 30s or 5m`
  return {
    ...about,
    unitSuffix: 'Ms',
    expects,
    placeholder: '<duration>',
    example: formatDurationMs(about.default),
    schema: quantity(parseDurationMs, about, expects),
    fromText: anything,
    toText: formatDurationMs,
  }
}

/** A number of bytes with its unit: `32MiB`. */
export function size(about: Description<number> & Range): Option<number> {
  const range = `${formatSizeBytes(about.min)} to ${formatSizeBytes(about.max)}`
  const expects = `a size from ${range}, such as 64KiB or 32MiB`
  return {
    ...about,
    unitSuffix: 'Bytes',
    expects,
    placeholder: '<size>',
    example: formatSizeBytes(about.default),
    schema: quantity(parseSizeBytes, about, expects),
    fromText: anything,
    toText: formatSizeBytes,
  }
}

function quantity(
  parse: (text: string) => number | null,
  range: Range,
  expects: string,
): z.ZodType<number> {
  return z.unknown().transform((raw, context) => {
    const value = typeof raw === 'string' || raw === 0 ? parse(String(raw)) : null
    if (value !== null && value >= range.min && value <= range.max) return value
    context.addIssue({ code: 'custom', message: `expects ${expects}` })
    return z.NEVER
  })
}

/** On or off; as a flag `--name` and `--no-name`. */
export function toggle(about: Description<boolean>): Option<boolean> {
  const expects = 'true or false'
  return {
    ...about,
    unitSuffix: '',
    expects,
    placeholder: '',
    example: String(about.default),
    schema: z.boolean({ error: `expects ${expects}` }),
    fromText: (given) => (given === 'true' ? true : given === 'false' ? false : given),
    toText: String,
  }
}

/** One of a few words. */
export function choice<const Word extends string>(
  about: Description<NoInfer<Word>> & { words: readonly Word[] },
): Option<Word> {
  const expects = `one of ${about.words.join(', ')}`
  return {
    ...about,
    unitSuffix: '',
    expects,
    placeholder: '<word>',
    example: about.default,
    schema: z.enum(about.words, { error: `expects ${expects}` }) as unknown as z.ZodType<Word>,
    fromText: anything,
    toText: String,
  }
}

const headerPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** The name of a header, in lower case; null for none. */
export function headerName(about: Description<string | null>): Option<string | null> {
  const expects = 'the name of a header'
  return {
    ...about,
    unitSuffix: '',
    expects,
    placeholder: '<header>',
    example: 'x-tenant',
    schema: headerSchema(expects),
    fromText: anything,
    toText: (value) => value ?? 'none',
  }
}

/** Names of headers, in lower case. */
export function headerNames(about: Description<readonly string[]>): Option<readonly string[]> {
  const expects = 'a list of header names'
  return {
    ...about,
    unitSuffix: '',
    expects,
    placeholder: '<headers>',
    example: '[x-session-id]',
    schema: z.array(headerSchema('the name of a header'), { error: `expects ${expects}` }),
    fromText: splitList,
    toText: (value) => (value.length === 0 ? 'none' : value.join(', ')),
  }
}

function headerSchema(expects: string): z.ZodType<string> {
  const error = `expects ${expects}`
  return z
    .string({ error })
    .regex(headerPattern, { error })
    .transform((name) => name.toLowerCase())
}

/** Words to words; as text `a=b,c=d`. */
export function wordMap(
  about: Description<Readonly<Record<string, string>>> & { expects: string; example: string },
): Option<Readonly<Record<string, string>>> {
  const error = `expects ${about.expects}`
  return {
    ...about,
    unitSuffix: '',
    placeholder: '<a=b,…>',
    schema: z.record(z.string(), z.string({ error }).min(1, { error }), { error }),
    fromText: (given) => {
      const pairs = splitList(given).map((pair) => pair.split('='))
      return pairs.every((pair) => pair.length === 2) ? Object.fromEntries(pairs) : given
    },
    toText: (value) =>
      Object.entries(value)
        .map((pair) => pair.join('='))
        .join(', ') || 'none',
  }
}

/** The fleet. */
export function endpointList(
  about: Description<readonly EndpointSpec[]> & { expects: string; example: string },
): Option<readonly EndpointSpec[]> {
  return {
    ...about,
    unitSuffix: '',
    placeholder: '<urls>',
    schema: endpointListSchema,
    fromText: splitList,
    toText: (value) => value.map((spec) => spec.url).join(', ') || 'none',
  }
}

function splitList(given: string): string[] {
  return given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

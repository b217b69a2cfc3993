/** Brings flags, environment, file and defaults together, in this order of precedence. */
import type { Config, NamedOption, OptionName } from './config.ts'
import { namedOptions } from './config.ts'
import { didYouMean } from './did-you-mean.ts'
import type { Problem } from './problem.ts'
import { describeIssues, readFileValues } from './read-file-values.ts'

export interface ConfigSources {
  /** Values by option name, as text (a boolean for a toggle). */
  readonly flags: Readonly<Partial<Record<OptionName, string | boolean | readonly string[]>>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The configuration file; null for none. */
  readonly file: { readonly name: string; readonly text: string } | null
}

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Environment names that are not options: the file's name and where tests find their data. */
const otherEnvNames = ['WARMPATH_CONFIG', 'WARMPATH_DATA']

export function loadConfig(sources: ConfigSources): LoadedConfig {
  const problems: Problem[] = []
  const file = sources.file === null ? null : readFileValues(sources.file.name, sources.file.text)
  problems.push(...(file?.problems ?? []))

  const config: Record<string, unknown> = {}
  for (const named of namedOptions) {
    const fromEnv = valueOfText(named, 'env', sources.env[named.env], problems)
    const fromFlag = valueOfText(named, 'flag', sources.flags[named.name], problems)
    const fromFile = file?.values.get(named.key)
    config[named.name] = fromFlag ?? fromEnv ?? fromFile ?? named.option.default
  }
  problems.push(...mistypedEnvNames(sources.env))
  if (problems.length === 0) problems.push(...missingKeys(config as unknown as Config, sources.env))
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, config: Object.freeze(config) as unknown as Config }
}

/** An empty environment variable counts as unset, as shells and orchestrators leave them behind. */
function valueOfText(
  named: NamedOption,
  source: 'flag' | 'env',
  given: string | boolean | readonly string[] | undefined,
  problems: Problem[],
): unknown {
  if (given === undefined || (given === '' && source === 'env')) return undefined
  const raw = typeof given === 'string' ? named.option.fromText(given) : given
  const parsed = named.option.schema.safeParse(raw)
  if (parsed.success) return parsed.data
  const where = source === 'flag' ? named.flag : named.env
  for (const { message } of describeIssues(raw, parsed.error)) {
    const hint = given === raw && isServiceLink(given) ? serviceLinkHint : ''
    problems.push({ source, where, key: named.key, message: message + hint })
  }
  return undefined
}

/** Kubernetes sets `NAME_PORT=tcp://…` for every Service, also for one that is named warmpath. */
const serviceLinkHint =
  '. Kubernetes set this for a Service of that name: put enableServiceLinks: false into the pod'

const isServiceLink = (given: unknown): boolean =>
  typeof given === 'string' && given.startsWith('tcp://')

function mistypedEnvNames(env: ConfigSources['env']): Problem[] {
  const known = [...namedOptions.map((named) => named.env), ...otherEnvNames]
  const problems: Problem[] = []
  for (const name of Object.keys(env)) {
    if (!name.startsWith('WARMPATH_') || known.includes(name)) continue
    // The prefix is the same for all: only what follows can be near.
    const near = didYouMean(
      name.slice('WARMPATH_'.length),
      known.map((each) => each.slice('WARMPATH_'.length)),
    )
    if (near === null) continue
    const message = `is not an option; did you mean WARMPATH_${near}?`
    problems.push({ source: 'env', where: name, key: name, message })
  }
  return problems
}

function missingKeys(config: Config, env: ConfigSources['env']): Problem[] {
  return config.endpoints
    .filter(({ apiKeyEnv }) => apiKeyEnv !== undefined && !env[apiKeyEnv])
    .map(({ url, apiKeyEnv }) => ({
      source: 'env',
      where: apiKeyEnv ?? '',
      key: 'endpoints',
      message: `is not set, but the endpoint ${url} takes its key from it`,
    }))
}

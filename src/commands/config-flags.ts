/** The option table as flags of a command, and a command's flags as a `Config`. */
import type { Command } from 'commander'
import { Option } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import type { Config, NamedOption, OptionName } from '../config/config.ts'
import { namedOptions } from '../config/config.ts'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { renderProblems } from '../config/problem.ts'
import { readTextFile } from '../io/read-text-file.ts'
import { CommandFailure } from './command-failure.ts'

type FlagValues = Readonly<Record<string, string | boolean | undefined>>

/** Adds `--config`, for a command that needs little more than the endpoints. */
export function addConfigFile(command: Command): void {
  command.option('-c, --config <file>', 'read options from a YAML file (WARMPATH_CONFIG)')
}

/** Adds `--config` and a flag for every option but the endpoints, which are arguments. */
export function addConfigFlags(command: Command): void {
  addConfigFile(command)
  for (const { flag, key, option } of namedOptions) {
    if (key === 'endpoints') continue
    if (option.placeholder === '') {
      addToggle(command, flag, option)
      continue
    }
    const fallback = ` (default: ${option.toText(option.default)})`
    const described = new Option(`${flag} ${option.placeholder}`, option.summary + fallback)
    command.addOption(described.helpGroup(`${option.group}:`))
  }
}

/** Only the spelling that changes something is shown; the other is there for scripts. */
function addToggle(command: Command, flag: string, option: NamedOption['option']): void {
  const on = new Option(flag, `turn on: ${option.summary}`)
  const off = new Option(`--no-${flag.slice(2)}`, `turn off: ${option.summary}`)
  const [shown, hidden] = option.default === true ? [off, on] : [on, off]
  command.addOption(shown.helpGroup(`${option.group}:`))
  command.addOption(hidden.hideHelp())
}

/** The file that `--config` or the environment names; null for none. */
export function configPath(command: Command): string | null {
  return command.opts<FlagValues>().config?.toString() ?? process.env.WARMPATH_CONFIG ?? null
}

/**
 * Reads the configuration of a command that has `addConfigFlags`; its file is read anew each time.
 * @param urls endpoints given as arguments; they replace those of the file
 */
export function readConfig(command: Command, urls: readonly string[]): LoadedConfig {
  // `undefined` unless given: a toggle's default comes from the table, not from commander.
  const given = command.opts<FlagValues>()
  const flags: Partial<Record<OptionName, string | boolean | readonly string[]>> = {}
  for (const { name, key } of namedOptions) {
    const value = given[key]
    if (value !== undefined && command.getOptionValueSource(key) === 'cli') flags[name] = value
  }
  if (urls.length > 0) flags.endpoints = urls
  const path = configPath(command)
  if (!path) return loadConfig({ flags, env: process.env, file: null })
  const file = readTextFile(path)
  if (file.ok) {
    return loadConfig({ flags, env: process.env, file: { name: path, text: file.text } })
  }
  const message = `cannot be read: ${file.reason}`
  return { ok: false, problems: [{ source: 'file', where: path, key: '', message }] }
}

/**
 * The same for a command that cannot go on without.
 * @throws CommandFailure that lists everything that is wrong
 */
export function configOf(command: Command, urls: readonly string[]): Config {
  const loaded = readConfig(command, urls)
  if (loaded.ok) return loaded.config
  const usage = loaded.problems.every(({ source }) => source === 'flag')
  throw new CommandFailure(
    usage ? exitCodes.usage : exitCodes.config,
    renderProblems(loaded.problems),
  )
}

/** Refuses a fleet without endpoints, with the two ways to name some. */
export function requireEndpoints(config: Config, command: string): void {
  if (config.endpoints.length > 0) return
  throw new CommandFailure(
    exitCodes.usage,
    `no endpoints: name them, as in \`warmpath ${command} http://gpu1:8000 http://gpu2:8000\`, ` +
      'or under `endpoints:` in a file given with --config',
  )
}

/** What a file that was read again means for a router that runs. */
import { isDeepStrictEqual } from 'node:util'
import { type Config, namedOptions } from './config.ts'

export interface ConfigChanges {
  /** What is in force from now on: the new values, but for those that wait for a restart. */
  readonly config: Config
  /** Keys, as in the file, of the options that changed. */
  readonly changed: readonly string[]
  /** Keys of those whose new value waits for a restart. */
  readonly needRestart: readonly string[]
}

export function configChanges(inForce: Config, wanted: Config): ConfigChanges {
  const differ = namedOptions.filter(({ name }) => !isDeepStrictEqual(inForce[name], wanted[name]))
  const waiting = differ.filter(({ option }) => option.needsRestart === true)
  const kept = Object.fromEntries(waiting.map(({ name }) => [name, inForce[name]]))
  return {
    config: { ...wanted, ...kept },
    changed: differ.filter((one) => !waiting.includes(one)).map(({ key }) => key),
    needRestart: waiting.map(({ key }) => key),
  }
}

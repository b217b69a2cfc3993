/** The gateway's configuration after every source was read and checked. */
import type { Option } from './option.ts'
import { optionTable } from './option-table.ts'

type ValueOf<O> = O extends Option<infer Value> ? Value : never

export type OptionName = keyof typeof optionTable

/** One value for each option of the table; durations in ms, sizes in bytes, as the names say. */
export type Config = {
  readonly [Name in OptionName]: ValueOf<(typeof optionTable)[Name]>
}

/** The table with the kinds of the values set aside, for code that treats all options alike. */
export interface NamedOption {
  /** In `Config`: `connectTimeoutMs`. */
  readonly name: OptionName
  /** In the file: `connectTimeout`. */
  readonly key: string
  /** `--connect-timeout`. */
  readonly flag: string
  /** `WARMPATH_CONNECT_TIMEOUT`. */
  readonly env: string
  readonly option: Option<unknown>
}

export const namedOptions: readonly NamedOption[] = Object.entries(optionTable).map(
  ([name, option]) => {
    const key = name.slice(0, name.length - option.unitSuffix.length)
    const words = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return {
      name: name as OptionName,
      key,
      flag: `--${words}`,
      env: `WARMPATH_${words.toUpperCase().replaceAll('-', '_')}`,
      option: option as unknown as Option<unknown>,
    }
  },
)

/** Every option at its default. Tests and tools start from it. */
export const defaultConfig = Object.fromEntries(
  namedOptions.map(({ name, option }) => [name, option.default]),
) as unknown as Config

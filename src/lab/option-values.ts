import { didYouMean } from '../config/did-you-mean.ts'

export type OptionValues = Readonly<Record<string, number | string>>

/**
 * Defaults with what `key=value` texts change. A value has the type of its default.
 * @param owner whose options they are, for the message
 * @throws RangeError that says what would be valid
 */
export function optionValues<Values extends OptionValues>(
  texts: readonly string[],
  defaults: Values,
  owner: string,
): Values {
  const values: Record<string, number | string> = { ...defaults }
  for (const text of texts) {
    const equals = text.indexOf('=')
    const key = equals < 0 ? text : text.slice(0, equals)
    const value = equals < 0 ? '' : text.slice(equals + 1)
    const known = Object.hasOwn(defaults, key) ? defaults[key] : undefined
    if (known === undefined) throw new RangeError(noSuchOption(key, Object.keys(defaults), owner))
    values[key] = typeof known === 'number' ? numberOf(value, key, known, owner) : value
  }
  return values as Values
}

function noSuchOption(key: string, known: readonly string[], owner: string): string {
  const meant = didYouMean(key, known)
  const hint = meant === null ? `there are ${known.join(', ')}` : `did you mean ${meant}?`
  return `${owner} has no option "${key}"; ${hint}`
}

function numberOf(text: string, key: string, like: number, owner: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number) && number >= 0) return number
  throw new RangeError(`${owner}: ${key} takes a number such as ${like}, not "${text}"`)
}

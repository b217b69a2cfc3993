import { InvalidArgumentError } from 'commander'

/** Reads a flag's number: whole, or with `fraction` any, from `min` to `max`. */
export function numberArgument(
  min: number,
  max: number,
  fraction: 'whole' | 'fraction' = 'whole',
): (text: string) => number {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    const fits =
      value >= min && value <= max && (fraction === 'fraction' || Number.isInteger(value))
    if (fits) return value
    const kind = fraction === 'whole' ? 'a whole number' : 'a number'
    throw new InvalidArgumentError(`It takes ${kind} from ${min} to ${max}.`)
  }
}

/** Narrowing of parsed JSON, which nobody has vouched for. */
export type Json = null | boolean | number | string | Json[] | JsonObject

export interface JsonObject {
  [key: string]: Json
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function stringOr<T>(value: Json | undefined, otherwise: T): string | T {
  return typeof value === 'string' ? value : otherwise
}

/** A whole number that is not negative, such as a count of tokens; null for anything else. */
export function countOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(value) ? value : null
}

/** The parsed text; undefined when it is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** The value as text; '' where it is nested deeper than the stack allows. */
export function writeJsonText(value: Json): string {
  try {
    return JSON.stringify(value)
  } catch {
    return ''
  }
}

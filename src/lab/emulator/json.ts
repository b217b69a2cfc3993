/** A JSON object whose fields are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The number in a field, or undefined where there is none. */
export function numberIn(body: JsonObject, field: string): number | undefined {
  const value = body[field]
  return typeof value === 'number' ? value : undefined
}

/** A request that the engine refuses, as one would; caught where the answer is written. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly param: string | null

  constructor(status: number, type: string, message: string, param: string | null = null) {
    super(message)
    this.status = status
    this.type = type
    this.param = param
  }
}

/** The API whose error shape applies, and the engine that is imitated. */
export type ErrorShape = 'openai' | 'anthropic' | 'flat'

/**
 * The body of an error: vLLM's nested one, Anthropic's on `/v1/messages`, or the flat one of SGLang
 * and of older vLLM.
 */
export function errorBody(error: ApiError, shape: ErrorShape): object {
  const { message, type, param, status } = error
  if (shape === 'anthropic') return { type: 'error', error: { type, message } }
  if (shape === 'flat') return { object: 'error', message, type, param, code: status }
  return { error: { message, type, param, code: status } }
}

/** Where a field of the body is missing; vLLM passes on the words of its validator. */
export function missingField(field: string, fields: number): ApiError {
  const detail =
    `{'type': 'missing', 'loc': 'body.${field}', 'msg': 'Field required', ` +
    `'input': '<dict of ${fields} items>'}`
  const message = `1 validation error:\n  ${detail}`
  return new ApiError(400, 'Bad Request', message, `body.${field}`)
}

export function invalidJson(at: number): ApiError {
  const detail =
    `{'type': 'json_invalid', 'loc': 'body.${at}', 'msg': 'JSON decode error', ` +
    `'input': '<dict of 0 items>', ` +
    `'ctx': {'error': 'Expecting property name enclosed in double quotes'}}`
  return new ApiError(400, 'Bad Request', `1 validation error:\n  ${detail}`, `body.${at}`)
}

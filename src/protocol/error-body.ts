/** The router's own errors in the shape that each API's clients understand. */
import { type ErrorCode, errorCatalogue } from '../base/errors.ts'
import type { Api } from './api.ts'

/** A JSON body; the status is the catalogue's. */
export function renderErrorBody(
  api: Api,
  code: ErrorCode,
  message: string,
  requestId: string | null,
): string {
  return JSON.stringify(
    speaksAnthropic(api) ? anthropic(code, message, requestId) : openai(code, message),
  )
}

/**
 * One server-sent event for a stream that breaks after its headers went out. OpenAI's clients raise
 * on `error` in a chunk's data; in the responses API the error is an event of its own type, and
 * flat; Anthropic's clients raise on an event named `error`.
 */
export function renderErrorEvent(
  api: Api,
  code: ErrorCode,
  message: string,
  requestId: string | null,
): string {
  if (speaksAnthropic(api)) {
    return `event: error\ndata: ${JSON.stringify(anthropic(code, message, requestId))}\n\n`
  }
  if (api === 'responses') {
    const event = { type: 'error', code, message, param: null, sequence_number: 0 }
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`
  }
  return `data: ${JSON.stringify(openai(code, message))}\n\n`
}

function speaksAnthropic(api: Api): boolean {
  return api === 'messages' || api === 'count-tokens'
}

function openai(code: ErrorCode, message: string): object {
  return { error: { message, type: errorCatalogue[code].type, param: null, code } }
}

function anthropic(code: ErrorCode, message: string, requestId: string | null): object {
  const error = { type: anthropicType(errorCatalogue[code].status), message }
  return { type: 'error', error, ...(requestId === null ? {} : { request_id: requestId }) }
}

/** https://docs.anthropic.com/en/api/errors */
function anthropicType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error'
    case 403:
      return 'permission_error'
    case 404:
      return 'not_found_error'
    case 413:
      return 'request_too_large'
    case 429:
      return 'rate_limit_error'
    case 503:
    case 529:
      return 'overloaded_error'
    case 504:
      return 'timeout_error'
    default:
      return status < 500 ? 'invalid_request_error' : 'api_error'
  }
}

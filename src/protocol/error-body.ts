/** The router's own errors in the shape that each API's clients understand. */
import type { ErrorCode } from '../base/errors.ts'
import type { Api } from './api.ts'

/** A JSON body; the status is the catalogue's. */
export function renderErrorBody(
  _api: Api,
  _code: ErrorCode,
  _message: string,
  _requestId: string | null,
): string {
  throw new Error('renderErrorBody is being written')
}

/** One server-sent event for a stream that breaks after its headers went out. */
export function renderErrorEvent(
  _api: Api,
  _code: ErrorCode,
  _message: string,
  _requestId: string | null,
): string {
  throw new Error('renderErrorEvent is being written')
}

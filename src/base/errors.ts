/**
 * The one catalogue of errors that a client can meet. `docs/reference/errors.md` is generated from
 * it; a code that is retired is never used again.
 */
export interface ErrorEntry {
  /** HTTP status. */
  readonly status: number
  /** OpenAI's `error.type`; Anthropic's follows from the status. */
  readonly type: string
  /** Whose fault it is. */
  readonly fault: 'client' | 'router' | 'engine' | 'operator'
  /** Whether the same request may succeed later, unchanged. */
  readonly retryable: boolean
  /** What happened and what to do, for the reference page. */
  readonly meaning: string
}

const entry = (
  status: number,
  type: string,
  fault: ErrorEntry['fault'],
  retryable: boolean,
  meaning: string,
): ErrorEntry => ({ status, type, fault, retryable, meaning })

export const errorCatalogue = {
  bad_request: entry(
    400,
    'invalid_request_error',
    'client',
    false,
    'The request cannot be read as HTTP or as the API expects. Mend the request.',
  ),
  model_not_found: entry(
    404,
    'invalid_request_error',
    'client',
    false,
    'No endpoint serves this model. The message names the models that exist.',
  ),
  response_not_found: entry(
    404,
    'invalid_request_error',
    'client',
    false,
    'No endpoint is known to hold this stored response. Send the conversation again in full.',
  ),
  not_found: entry(
    404,
    'invalid_request_error',
    'client',
    false,
    'Nothing is served at this path.',
  ),
  request_timeout: entry(
    408,
    'invalid_request_error',
    'client',
    true,
    'The client sent its request too slowly.',
  ),
  body_too_large: entry(
    413,
    'invalid_request_error',
    'client',
    false,
    'The body is larger than the limit that the message names.',
  ),
  headers_too_large: entry(
    431,
    'invalid_request_error',
    'client',
    false,
    'The headers are larger than the limit.',
  ),
  fleet_full: entry(
    429,
    'rate_limit_error',
    'operator',
    true,
    'Contexts at work fill the memory of the fleet, and this one waited as long as it may. Retry ' +
      'after the time given.',
  ),
  router_overloaded: entry(
    503,
    'server_error',
    'router',
    true,
    'The router itself has as many open requests as it may hold. Retry after the time given.',
  ),
  no_endpoint: entry(
    503,
    'server_error',
    'operator',
    true,
    'Endpoints serve this model, but none can take a request now. The message says why.',
  ),
  shutting_down: entry(
    503,
    'server_error',
    'operator',
    true,
    'The router is stopping and takes no new requests.',
  ),
  upstream_refused: entry(
    502,
    'server_error',
    'engine',
    true,
    'The engine could not be reached, and no other could be tried.',
  ),
  upstream_broken: entry(
    502,
    'server_error',
    'engine',
    true,
    'The engine broke the connection before its answer was whole.',
  ),
  upstream_timeout: entry(
    504,
    'server_error',
    'engine',
    true,
    'The engine sent nothing for longer than the limit.',
  ),
  internal: entry(
    500,
    'server_error',
    'router',
    true,
    'A fault of the router. Its log names the request id.',
  ),
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue

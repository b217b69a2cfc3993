/** What a failure of an engine means: who is at fault, what may still run, what may be repeated. */
import type { ErrorCode } from '../../base/errors.ts'
import type { UpstreamFailure, UpstreamFailureCause } from '../../io/http1/upstream.ts'
import type { AttemptFailure } from './attempt-owner.ts'
import { headerOf } from './headers.ts'

/** Nothing of the request can have reached an engine. */
const neverSent: ReadonlySet<UpstreamFailureCause> = new Set([
  'refused',
  'unreachable',
  'dns',
  'tls',
  'connect-timeout',
  'too-many-connections',
])

/** The connection is gone, and with it the attempt: its engine is dead or aborting. */
const broken: ReadonlySet<UpstreamFailureCause> = new Set(['reset', 'closed'])

/** Our own limits and our own going say nothing about the endpoint. */
const ownFault: ReadonlySet<UpstreamFailureCause> = new Set([
  'bad-request',
  'too-many-connections',
  'pool-closed',
])

/** Nothing of the answer went to the client when this happened. */
export function failureOf(failure: UpstreamFailure, storesState: boolean): AttemptFailure {
  const { phase, cause, bytesSent } = failure
  // What must not run twice is not sent again because a socket may have been closed while idle.
  const reusedSocketDied = failure.reusedSocketDied && !storesState
  const untouched = neverSent.has(cause) || !bytesSent || reusedSocketDied
  return {
    phase,
    cause,
    sent: !untouched,
    mayRun: !untouched,
    endpointFault: !ownFault.has(cause) && !reusedSocketDied,
    repeatable: untouched ? cause !== 'bad-request' : broken.has(cause) && !storesState,
    retryAfterMs: null,
  }
}

/**
 * An answer that refuses before anything was processed: somebody else may take the request. Null
 * for any other status.
 */
export function refusalOf(
  status: number,
  headers: readonly string[],
  storesState: boolean,
): AttemptFailure | null {
  if (status !== 503 && status !== 429) return null
  return {
    phase: 'headers',
    cause: `status ${status}`,
    sent: true,
    mayRun: false,
    endpointFault: status === 503,
    repeatable: !storesState,
    retryAfterMs: retryAfterOf(headers),
  }
}

/** How an answer that had begun was cut short. */
export interface Breakage {
  readonly code: ErrorCode
  readonly message: string
  readonly cause: string
  readonly endpointFault: boolean
}

export const breakages = {
  truncated: {
    code: 'upstream_broken',
    message: 'The engine ended its answer before it was whole.',
    cause: 'truncated',
    endpointFault: true,
  },
  broken: {
    code: 'upstream_broken',
    message: 'The engine broke the connection before its answer was whole.',
    cause: 'reset',
    endpointFault: true,
  },
  silent: {
    code: 'upstream_timeout',
    message: 'The engine was silent for longer than the limit (streamIdleTimeout).',
    cause: 'stall',
    endpointFault: true,
  },
  'engine gone': {
    code: 'upstream_broken',
    message: 'The engine stopped: it is silent and takes no connections.',
    cause: 'engine gone',
    endpointFault: true,
  },
  'endpoint removed': {
    code: 'upstream_broken',
    message: 'The engine was taken out of service, and its answer took longer than it could wait.',
    cause: 'endpoint removed',
    endpointFault: false,
  },
  'shutting down': {
    code: 'shutting_down',
    message: 'The router is stopping, and the answer took longer than it could wait.',
    cause: 'shutting down',
    endpointFault: false,
  },
  internal: {
    code: 'internal',
    message: 'A fault of the router; its log names the request id.',
    cause: 'internal',
    endpointFault: false,
  },
} as const satisfies Record<string, Breakage>

/** How the connection's end ended an answer that had begun. */
export function breakageOf({ cause }: UpstreamFailure): Breakage {
  if (cause === 'idle-timeout' || cause === 'first-byte-timeout') return breakages.silent
  return { ...breakages.broken, cause, endpointFault: !ownFault.has(cause) }
}

/** Longest `Retry-After` that is taken at its word. */
const retryAfterMsMax = 60_000

/** `Retry-After` in seconds; dates are not used by engines. Null when there is none. */
function retryAfterOf(headers: readonly string[]): number | null {
  const value = headerOf(headers, 'retry-after')
  if (value === null) return null
  const seconds = Number(value)
  return seconds >= 0 ? Math.min(seconds * 1_000, retryAfterMsMax) : null
}

import { http1Limits } from './limits.ts'
import type { UpstreamFailureCause } from './upstream.ts'

const causeOfCode: Readonly<Record<string, UpstreamFailureCause>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  // The kernel's own connect timeout, or retransmissions that nobody acknowledged.
  ETIMEDOUT: 'unreachable',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  // No file descriptor left.
  EMFILE: 'too-many-connections',
  ENFILE: 'too-many-connections',
}

/** What a socket's error means. */
export function causeOfError(
  error: Error,
  connecting: boolean,
  secure: boolean,
): UpstreamFailureCause {
  // Trying several addresses of one name fails with all their errors.
  const first = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : error
  const cause = causeOfCode[(first as NodeJS.ErrnoException | undefined)?.code ?? '']
  if (!connecting) return cause ?? 'reset'
  if (cause !== undefined && !(secure && cause === 'reset')) return cause
  return secure ? 'tls' : 'unreachable'
}

/** One line of bounded length: engines and resolvers may put anything into a message. */
export function describeError(error: Error): string {
  const first = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : error
  const text = first?.message ?? error.message
  const clean = text.replaceAll(/[^\x20-\x7e]+/g, ' ').trim()
  return clean.slice(0, http1Limits.detailCharsMax)
}

import type { RequestEnded } from '../../core/events.ts'

/** A request that was never sent is over while it waits at the router. */
export function heldEnd(
  requestId: string,
  atMs: number,
  outcome: 'client-gone' | 'failed',
  cause: string,
): RequestEnded {
  return {
    type: 'request-ended',
    atMs,
    requestId,
    outcome,
    phase: 'held',
    cause,
    endpointFault: false,
    usage: { promptTokens: null, outputTokens: null, cachedTokens: null },
    answered: null,
  }
}

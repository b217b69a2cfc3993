/** Why a request is refused, in words for its client. */
import type { Refuse } from './decisions.ts'
import type { AttemptFailed, EndpointKey, RequestArrived } from './events.ts'
import type { Pool } from './fleet/fleet.ts'

/** Models named in one message. */
const modelsShownMax = 20

export function unknownModel(event: RequestArrived, models: readonly string[]): Refuse {
  const shown = models.slice(0, modelsShownMax).join(', ')
  const hidden = models.length - modelsShownMax
  const more = hidden > 0 ? ` and ${hidden} more` : ''
  return {
    type: 'refuse',
    requestId: event.requestId,
    code: 'model_not_found',
    message: `No endpoint serves the model '${event.model}'. Served here: ${shown}${more}.`,
    retryAfterMs: null,
  }
}

export function noEndpoint(event: RequestArrived, pool: Pool): Refuse {
  const why = new Map<string, number>()
  for (const { reason } of pool.excluded) why.set(reason, (why.get(reason) ?? 0) + 1)
  const list = [...why].map(([reason, count]) => `${count} ${reason}`).join(', ')
  const who = event.model === null ? 'any model' : `'${event.model}'`
  const counts = pool.size === 0 ? 'none is configured' : `of ${pool.size}: ${list}`
  return {
    type: 'refuse',
    requestId: event.requestId,
    code: 'no_endpoint',
    message: `No endpoint that serves ${who} can take a request now (${counts}).`,
    retryAfterMs: 1_000,
  }
}

/** @param tried the endpoints at which it failed */
export function refusedAttempt(tried: readonly EndpointKey[], event: AttemptFailed): Refuse {
  const code =
    event.phase === 'connect'
      ? 'upstream_refused'
      : event.cause.includes('timeout')
        ? 'upstream_timeout'
        : 'upstream_broken'
  const times = tried.length === 1 ? 'The engine' : `${tried.length} engines`
  return {
    type: 'refuse',
    requestId: event.requestId,
    code,
    message: `${times} failed before an answer began (${event.cause}); no other may be tried.`,
    retryAfterMs: 1_000,
  }
}

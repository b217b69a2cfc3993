/** What is kept of a request that an endpoint served: figures, the explanation, a line of log. */
import type { Dispatch } from '../../core/decisions.ts'
import type { RequestArrived } from '../../core/events.ts'
import { logLines } from '../../observe/log-lines.ts'
import type { ExplainedEnd } from '../../observe/recent-decisions.ts'
import type { ServedSeries } from '../../observe/served-series.ts'
import type { GatewayParts } from './gateway.ts'

export function recordEnd(
  { log, recent }: GatewayParts,
  arrived: RequestArrived,
  dispatch: Dispatch,
  series: ServedSeries,
  end: ExplainedEnd,
): void {
  const { outcome, status, e2eMs, usage, phase, cause, attempts, ttftMs, endpoint } = end
  const { cachedTokens, sessionId, queueWaitMs, predictedTtftMs } = dispatch
  series.ended({ outcome, status, e2eMs, usage, predictedCachedTokens: cachedTokens })
  const { requestId, model, tenant } = arrived
  recent.ended(requestId, end)
  if (!log.enabled(outcome === 'failed' ? 'warn' : 'debug')) return
  const reason = dispatch.reasons.summary
  log.log(
    logLines.requestDone({
      requestId,
      model,
      endpoint,
      tenant,
      sessionId,
      status,
      outcome,
      phase,
      cause,
      attempts,
      queueWaitMs,
      ttftMs,
      predictedTtftMs,
      e2eMs,
      usage,
      reason,
    }),
  )
}

/**
 * Every line that the router logs. A line names requests, endpoints and counts; it never holds text
 * of a prompt or an answer, nor a credential. Strings that came from outside are cut to a bound.
 */
import type { ErrorCode } from '../base/errors.ts'
import type { EndpointKey, Outcome, Phase, Usage } from '../core/events.ts'
import type { FallbackKind } from './fallbacks.ts'
import type { LogLine, LogValue } from './logger.ts'

const textCharsMax = 200

export interface RequestDone {
  readonly requestId: string
  readonly model: string | null
  readonly endpoint: EndpointKey | null
  readonly tenant: string
  readonly sessionId: string | null
  /** HTTP status that the client got; null when it was gone before. */
  readonly status: number | null
  readonly outcome: Outcome | 'refused'
  readonly phase: Phase | null
  readonly cause: string
  readonly attempts: number
  readonly queueWaitMs: number
  readonly ttftMs: number | null
  readonly predictedTtftMs: number | null
  readonly e2eMs: number
  readonly usage: Usage
  /** The router's phrase for why that endpoint. */
  readonly reason: string
}

export const logLines = {
  listening: (url: string, endpoints: number, policy: string): LogLine =>
    line('info', 'router.listening', 'listening', { url, endpoints, policy }),

  draining: (openRequests: number): LogLine =>
    line('info', 'router.draining', 'stopping: no new requests', { openRequests }),

  drained: (openRequests: number): LogLine =>
    line('info', 'router.stopped', 'stopped', { openRequests }),

  requestDone: (done: RequestDone): LogLine => {
    const { usage, ...fields } = done
    const level = done.outcome === 'failed' ? 'warn' : 'info'
    return line(level, 'request.done', `request ${done.outcome}`, {
      ...fields,
      queueWaitMs: tenths(done.queueWaitMs),
      ttftMs: tenths(done.ttftMs),
      predictedTtftMs: tenths(done.predictedTtftMs),
      e2eMs: tenths(done.e2eMs),
      promptTokens: usage.promptTokens,
      outputTokens: usage.outputTokens,
      cachedTokens: usage.cachedTokens,
    })
  },

  requestRefused: (requestId: string, model: string | null, code: ErrorCode, message: string) =>
    line('warn', 'request.refused', 'request refused', { requestId, model, code, why: message }),

  attemptFailed: (
    requestId: string,
    endpoint: EndpointKey,
    attempt: number,
    phase: Phase,
    cause: string,
    retry: boolean,
  ): LogLine =>
    line('warn', 'attempt.failed', retry ? 'attempt failed, trying another' : 'attempt failed', {
      requestId,
      endpoint,
      attempt,
      phase,
      cause,
    }),

  endpointUp: (endpoint: EndpointKey, healthMs: number): LogLine =>
    line('info', 'endpoint.up', 'endpoint answers', { endpoint, healthMs: tenths(healthMs) }),

  endpointDown: (endpoint: EndpointKey, reason: string): LogLine =>
    line('warn', 'endpoint.down', 'endpoint does not answer', { endpoint, reason }),

  endpointDescribed: (
    endpoint: EndpointKey,
    engine: string,
    version: string | null,
    models: readonly string[] | null,
  ): LogLine =>
    line('info', 'endpoint.described', 'endpoint described itself', {
      endpoint,
      engine,
      version,
      models: models === null ? null : models.join(','),
    }),

  endpointRestarted: (endpoint: EndpointKey, evidence: string): LogLine =>
    line('warn', 'endpoint.restarted', 'a new process answers there', { endpoint, evidence }),

  endpointEjected: (endpoint: EndpointKey, cause: string): LogLine =>
    line('warn', 'endpoint.ejected', 'endpoint ejected: requests failed there', {
      endpoint,
      cause,
    }),

  endpointJoined: (endpoint: EndpointKey): LogLine =>
    line('info', 'endpoint.joined', 'endpoint joined', { endpoint }),

  endpointLeft: (endpoint: EndpointKey): LogLine =>
    line('info', 'endpoint.left', 'endpoint left', { endpoint }),

  /** A belief or a source failed and something poorer is used in its place. Logged once each. */
  fallback: (kind: FallbackKind, endpoint: EndpointKey | null, detail: string): LogLine =>
    line('warn', `fallback.${kind}`, 'falling back', { kind, endpoint, detail }),

  configReloaded: (
    endpoints: { readonly added: number; readonly removed: number; readonly changed: number },
    changed: readonly string[],
    needRestart: readonly string[],
  ): LogLine => {
    const waits = needRestart.length > 0
    const message = `configuration reloaded${waits ? '; some of it waits for a restart' : ''}`
    return line(waits ? 'warn' : 'info', 'config.reloaded', message, {
      ...endpoints,
      changed: changed.join(','),
      needRestart: needRestart.join(','),
    })
  },

  configRejected: (why: string): LogLine =>
    line('error', 'config.rejected', 'new configuration refused, the old one stays', { why }),

  decisionLogFailed: (why: string): LogLine =>
    line('error', 'decision-log.failed', 'decision log cannot be written', { why }),

  internalError: (requestId: string | null, error: unknown): LogLine =>
    line('error', 'router.fault', 'fault of the router', {
      requestId,
      error: error instanceof Error ? error.message : String(error),
      stack: error instanceof Error ? clip(error.stack ?? '', 2_000) : null,
    }),
} as const

function line(
  level: LogLine['level'],
  event: string,
  message: string,
  fields: Readonly<Record<string, LogValue>>,
): LogLine {
  const bounded: Record<string, LogValue> = {}
  for (const [name, value] of Object.entries(fields)) {
    const charsMax = name === 'stack' ? 2_000 : textCharsMax
    bounded[name] = typeof value === 'string' ? clip(value, charsMax) : value
  }
  return { level, event, message, fields: bounded }
}

function clip(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`
}

function tenths(ms: number): number
function tenths(ms: number | null): number | null
function tenths(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10
}

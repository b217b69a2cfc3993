/**
 * One request, from its first byte to its last, as the gateway sees it: body read, routed, sent,
 * perhaps sent again, answered. Whatever ends it, the router hears of the end exactly once.
 */
import { type ErrorCode, errorCatalogue } from '../../base/errors.ts'
import type { Dispatch, Hold, Refuse } from '../../core/decisions.ts'
import type { EndpointKey, RequestArrived } from '../../core/events.ts'
import type { GoneReason, RequestReceiver, ServedRequest } from '../../io/http1-server/served.ts'
import type { Measured } from '../../observe/decision-log.ts'
import { logLines } from '../../observe/log-lines.ts'
import type { Api } from '../../protocol/api.ts'
import { renderErrorBody } from '../../protocol/error-body.ts'
import type { AnswerEnd, AttemptFailure, AttemptOwner } from './attempt-owner.ts'
import { EngineAttempt } from './engine-attempt.ts'
import type { Gateway } from './gateway.ts'
import { headerOf } from './headers.ts'
import { heldEnd } from './held-end.ts'
import { type Incoming, readIncoming } from './incoming.ts'
import type { OpenExchange } from './open-exchange.ts'
import { recordEnd } from './record-end.ts'
import { RequestBody } from './request-body.ts'
import type { ExchangeRoute } from './route-of.ts'

export class Exchange implements RequestReceiver, OpenExchange, AttemptOwner {
  readonly requestId: string
  readonly gateway: Gateway
  readonly route: ExchangeRoute
  readonly served: ServedRequest
  readonly receivedMs: number
  /** The client's own id for the request, echoed to it; null when it gave none. */
  readonly clientRequestId: string | null
  /** HTTP status that the client got; null before. */
  status: number | null = null
  firstTokenMs: number | null = null
  #incoming: Incoming | null = null
  #arrived: RequestArrived | null = null
  #dispatch: Dispatch | null = null
  #attempt: EngineAttempt | null = null
  #attempts = 0
  /** It waits at the router. */
  isHeld = false
  /** The engine answered with a refusal that is relayed if nobody else can be tried. */
  #answeredRefusal = false
  #over = false

  readonly #body: RequestBody

  constructor(gateway: Gateway, served: ServedRequest, route: ExchangeRoute) {
    this.gateway = gateway
    this.served = served
    this.route = route
    this.requestId = gateway.nextRequestId()
    this.receivedMs = gateway.nowMs()
    const declared = Math.max(0, served.head.contentLength)
    this.clientRequestId = headerOf(served.head.headers, 'x-request-id')
    this.#body = new RequestBody(gateway.bodyPool, served.head.chunked ? -1 : declared)
    gateway.opened(this)
  }

  get api(): Api {
    return this.route.kind === 'prompt' ? this.route.api : 'other'
  }

  get incoming(): Incoming {
    return this.#incoming!
  }

  get endpoint(): EndpointKey | null {
    return this.#dispatch?.endpoint ?? null
  }

  get servedBy(): EndpointKey | null {
    return this.#attempt === null ? null : this.endpoint
  }

  /** When the engine last gave a sign of life for this request. */
  get lastSignMs(): number {
    return this.#attempt?.lastSignMs ?? Number.POSITIVE_INFINITY
  }

  body(piece: Buffer): void {
    if (this.#over) return
    const body = this.#body
    if (body.bytes + piece.length > this.gateway.parts.config.maxBodyBytes) {
      this.#refuseLarge()
    } else if (!body.append(piece)) {
      const message = 'The router holds as many bytes of requests as it may.'
      this.sendError('router_overloaded', message, 1_000)
      this.#finish()
    }
  }

  bodyFailed(code: ErrorCode, message: string): void {
    if (this.#over) return
    this.sendError(code, message, null)
    this.#finish()
  }

  bodyEnd(): void {
    if (this.#over) return
    try {
      this.#route(this.#body.whole())
    } catch (error) {
      this.crashed(error)
    }
  }

  /** A declared length says at once what would be said later. */
  refusesLength(contentLength: number): boolean {
    if (contentLength <= this.gateway.parts.config.maxBodyBytes) return false
    this.#refuseLarge()
    return true
  }

  #route(body: Buffer): void {
    const incoming = readIncoming(this, body)
    if ('code' in incoming) {
      this.sendError(incoming.code, incoming.message, null)
      this.#finish()
      return
    }
    this.#incoming = incoming
    this.#arrived = incoming.arrived
    this.gateway.retryBudget.earned(this.gateway.parts.config.retryBudgetRatio)
    this.gateway.parts.recent.arrived(incoming.arrived)
    const startMs = this.gateway.nowMs()
    this.gateway.tell(incoming.arrived)
    this.gateway.parts.metrics.decided(this.gateway.nowMs() - startMs)
  }

  #refuseLarge(): void {
    const { maxBodyBytes } = this.gateway.parts.config
    const mib = maxBodyBytes / 1_048_576
    const limit = mib >= 1 ? `${Math.round(mib)} MiB` : `${maxBodyBytes} bytes`
    const message = `The body is larger than ${limit}, the limit of this router (maxBody).`
    this.sendError('body_too_large', message, null)
    this.#finish()
  }

  /** The router chose an endpoint, for the first time or after a failure. */
  dispatched(dispatch: Dispatch): void {
    const { decisionLog, metrics, links } = this.gateway.parts
    this.isHeld = false
    this.#dispatch = dispatch
    this.#attempts = dispatch.attempt
    decisionLog?.decided(this.gateway.nowMs(), this.#arrived!, dispatch)
    const series = metrics.served(this.#arrived!.model, dispatch.endpoint)
    series.dispatched(dispatch.attempt, dispatch.queueWaitMs)
    this.#attempt = new EngineAttempt(this, dispatch, links.get(dispatch.endpoint)!, series)
    this.#attempt.send()
  }

  refused(refuse: Refuse): void {
    const { decisionLog } = this.gateway.parts
    decisionLog?.decided(this.gateway.nowMs(), this.#arrived!, refuse, this.#attempts + 1)
    // The engine's own words say more than ours would.
    if (this.#answeredRefusal) return
    this.isHeld = false
    this.sendError(refuse.code, refuse.message, refuse.retryAfterMs)
    this.#finish()
  }

  /** The client's connection stays open; the router will dispatch or refuse. */
  held(hold: Hold): void {
    this.isHeld = true
    this.gateway.parts.decisionLog?.decided(this.gateway.nowMs(), this.#arrived!, hold)
  }

  coreRebuilt(): void {
    if (this.#attempt === null && this.#arrived !== null) this.gateway.tell(this.#arrived)
  }

  /**
   * An attempt came to nothing. Returns true when the request went elsewhere or was refused, false
   * when the engine's own answer (`answered`) is to be relayed.
   */
  attemptFailed(failure: AttemptFailure, answered: boolean): boolean {
    const { log, metrics, probeSoon, config } = this.gateway.parts
    const failed = this.#attempt!
    const { endpoint, attempt } = this.#dispatch!
    const repeatable = failure.repeatable && attempt <= config.retriesMax
    // Where nothing was sent, going elsewhere adds no load to the fleet.
    const mayRetry = repeatable && (!failure.sent || this.gateway.retryBudget.spend())
    metrics.attemptFailed(endpoint, failure.phase, failure.cause)
    if (failure.endpointFault) probeSoon(endpoint)
    this.#answeredRefusal = answered
    const event = {
      type: 'attempt-failed',
      atMs: this.gateway.nowMs(),
      requestId: this.requestId,
      phase: failure.phase,
      cause: failure.cause,
      mayRun: failure.mayRun,
      endpointFault: failure.endpointFault,
      mayRetry,
      retryAfterMs: failure.retryAfterMs,
    } as const
    this.gateway.parts.recent.attemptFailed(event)
    this.gateway.tell(event)
    const moved = this.#attempt !== failed
    if (moved) {
      this.#answeredRefusal = false
      metrics.retried(failure.cause)
    }
    log.log(
      logLines.attemptFailed(
        this.requestId,
        endpoint,
        attempt,
        failure.phase,
        failure.cause,
        moved,
      ),
    )
    if (!moved && !this.#over && !answered) {
      // The router had given the request up already, on a refusal that then broke off.
      this.sendError('upstream_broken', 'The engine refused the request and broke off.', 1_000)
      this.#finish()
    }
    return moved || this.#over
  }

  /** The engine's answer ended, well or badly. */
  answerEnded(end: AnswerEnd): void {
    if (this.#over) return
    this.#over = true
    const atMs = this.gateway.nowMs()
    const measured = this.#measured(atMs)
    // After a refusal that is relayed the router has forgotten the request.
    if (!this.#answeredRefusal) this.#tellEnded(end, atMs, measured)
    const { series } = this.#attempt!
    const { outcome, phase, cause, usage } = end
    const { endpoint, status, attempts, ttftMs, ttftSinceDispatchMs, e2eMs } = measured
    recordEnd(this.gateway.parts, this.#arrived!, this.#dispatch!, series, {
      atMs,
      outcome,
      phase,
      cause,
      usage,
      endpoint,
      status,
      attempts,
      ttftMs,
      ttftSinceDispatchMs,
      e2eMs,
    })
    this.#body.release(this.#attempt!.bodyTaken)
    this.gateway.closed(this)
  }

  /** No attempt can follow: a large body is not kept through a long answer. */
  bodyNoLongerNeeded(): void {
    // The upstream client holds the same list.
    this.#incoming!.body?.splice(0)
    this.#body.release(this.#attempt!.bodyTaken)
  }

  #tellEnded(end: AnswerEnd, atMs: number, measured: Measured): void {
    if (end.endpointFault) this.gateway.parts.probeSoon(this.#dispatch!.endpoint)
    const { outcome, phase, cause, endpointFault, usage, answered } = end
    const event = {
      type: 'request-ended',
      atMs,
      requestId: this.requestId,
      outcome,
      phase,
      cause,
      endpointFault,
      usage,
      answered,
    } as const
    this.gateway.tell(event)
    this.gateway.parts.decisionLog?.ended(event, measured)
  }

  #measured(nowMs: number): Measured {
    const { dispatchedMs } = this.#attempt!
    const { firstTokenMs, receivedMs, status } = this
    return {
      endpoint: this.#dispatch!.endpoint,
      status,
      attempts: this.#attempts,
      ttftMs: firstTokenMs === null ? null : firstTokenMs - receivedMs,
      ttftSinceDispatchMs: firstTokenMs === null ? null : firstTokenMs - dispatchedMs,
      e2eMs: nowMs - receivedMs,
    }
  }

  /** An error of our own, in the shape that the client's API has. */
  sendError(code: ErrorCode, message: string, retryAfterMs: number | null): void {
    const { metrics, log, config } = this.gateway.parts
    const { status } = errorCatalogue[code]
    this.status = status
    metrics.refused(code)
    log.log(logLines.requestRefused(this.requestId, this.#arrived?.model ?? null, code, message))
    const headers = ['content-type', 'application/json']
    if (retryAfterMs !== null) {
      headers.push('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1_000))))
    }
    if (config.responseHeaders) headers.push('x-warmpath-request-id', this.requestId)
    if (this.clientRequestId !== null) headers.push('x-request-id', this.clientRequestId)
    const body = Buffer.from(renderErrorBody(this.api, code, message, this.requestId))
    this.served.begin({ status, reason: '', headers, contentLength: body.length })
    this.served.write([body], null)
    this.served.end()
  }

  /** The engine that serves this refuses connections and has been silent. */
  engineGone(): void {
    this.#leaveEngine('engine gone')
  }

  endpointRemoved(): void {
    this.#leaveEngine('endpoint removed')
  }

  /** The connection is cut from our side: the engine, if it lives, sees it and stops the work. */
  #leaveEngine(cause: 'engine gone' | 'endpoint removed'): void {
    const attempt = this.#attempt!
    if (attempt.answering) {
      attempt.giveUp(cause)
      return
    }
    attempt.abort()
    const { phase } = attempt
    const sent = phase !== 'connect'
    const repeatable = !sent || !this.incoming.storesState
    const endpointFault = cause === 'engine gone'
    const failure = { phase, cause, sent, mayRun: sent, endpointFault, repeatable } as const
    this.attemptFailed({ ...failure, retryAfterMs: null }, false)
  }

  /** The drain's time is up. */
  shutDown(): void {
    if (this.#attempt?.answering) this.#attempt.giveUp('shutting down')
    else this.#abandon('shutting_down', 'The router is stopping. Send the request again.')
  }

  /** The core failed on an event of this request. */
  fault(): void {
    if (this.#attempt?.answering) this.#attempt.giveUp('internal')
    else this.#abandon('internal', `A fault of the router; its log names ${this.requestId}.`)
  }

  /** We failed on this request. Others go on. */
  crashed(error: unknown): void {
    this.gateway.parts.log.log(logLines.internalError(this.requestId, error))
    this.fault()
  }

  #abandon(code: ErrorCode, message: string): void {
    if (this.#over) return
    const attempt = this.#attempt
    attempt?.abort()
    this.sendError(code, message, 1_000)
    if (attempt === null) {
      this.#endUnsent('failed', code)
      return
    }
    const { phase, usage } = attempt
    const cause = code === 'internal' ? 'internal' : 'shutting down'
    const end = { outcome: 'failed', phase, cause, usage } as const
    this.answerEnded({ ...end, endpointFault: false, answered: null })
  }

  drain(): void {
    this.#attempt?.clientDrained()
  }

  gone(why: GoneReason): void {
    if (this.#over) return
    const attempt = this.#attempt
    if (attempt === null) {
      this.#endUnsent('client-gone', `client ${why}`)
      return
    }
    attempt.abort()
    const { phase, usage } = attempt
    const end = { outcome: 'client-gone', phase, cause: `client ${why}`, usage } as const
    this.answerEnded({ ...end, endpointFault: false, answered: null })
  }

  /** Over before it was sent: whoever waited must not get a turn. */
  #endUnsent(outcome: 'client-gone' | 'failed', cause: string): void {
    const held = this.isHeld
    this.isHeld = false
    if (held) this.gateway.tell(heldEnd(this.requestId, this.gateway.nowMs(), outcome, cause))
    this.#finish()
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#body.release(this.#attempt === null)
    this.gateway.closed(this)
  }
}

/**
 * One attempt at one engine: sends the request, passes the answer's bytes to the client, reads them
 * along, and judges how it ended.
 *
 * The head of the answer waits for the first byte of its body. Engines send it long before the
 * first token, and it holds nothing that a client could use sooner; until then an engine that dies
 * has answered nothing, and the request can still go elsewhere.
 */
import type { Dispatch } from '../../core/decisions.ts'
import type { Phase, Usage } from '../../core/events.ts'
import type { UpstreamCall, UpstreamFailure, UpstreamHandler } from '../../io/http1/upstream.ts'
import type { AnswerHead } from '../../io/http1-server/served.ts'
import type { ServedSeries } from '../../observe/served-series.ts'
import { type AnswerReader, answerReader } from '../../protocol/answer-reader.ts'
import { renderErrorEvent } from '../../protocol/error-body.ts'
import type { AttemptOwner } from './attempt-owner.ts'
import { EventBoundary } from './event-boundary.ts'
import { type Breakage, breakageOf, breakages, failureOf, refusalOf } from './failures.ts'
import type { EngineLink } from './gateway.ts'
import { headerOf, headersToClient, headersToEngine } from './headers.ts'
import { LateError } from './late-error.ts'
import { keepAliveComment, SseKeepAlive } from './sse-keep-alive.ts'
import { StoredIdReader } from './stored-id.ts'

/** The router hears of output after so many events, not after each. */
const progressEvents = 64
/** A prediction is trusted up to this factor before an engine counts as silent. */
const predictionSlack = 3

const noUsage: Usage = { promptTokens: null, outputTokens: null, cachedTokens: null }

interface EngineHead extends AnswerHead {
  readonly sse: boolean
  /** Only the end of the connection tells the end of the body: it cannot tell a whole one. */
  readonly untilClose: boolean
}

export class EngineAttempt implements UpstreamHandler {
  readonly dispatchedMs: number
  readonly series: ServedSeries
  lastSignMs: number
  phase: Phase = 'connect'
  readonly #exchange: AttemptOwner
  readonly #dispatch: Dispatch
  readonly #link: EngineLink
  #call: UpstreamCall | null = null
  #head: EngineHead | null = null
  #reader: AnswerReader | null = null
  readonly #boundary = new EventBoundary()
  readonly #keepAlive: SseKeepAlive
  #lateError: LateError | null = null
  #storedId: StoredIdReader | null = null
  #events = 0
  #eventsTold = 0
  #paused = false
  #over = false

  constructor(exchange: AttemptOwner, dispatch: Dispatch, link: EngineLink, series: ServedSeries) {
    this.#exchange = exchange
    this.#dispatch = dispatch
    this.#link = link
    this.series = series
    this.dispatchedMs = exchange.gateway.nowMs()
    this.lastSignMs = this.dispatchedMs
    const { scheduler, config } = exchange.gateway.parts
    const everyMs = exchange.incoming.arrived.streaming ? config.sseKeepAliveMs : 0
    this.#keepAlive = new SseKeepAlive(scheduler, everyMs, () => this.#stillWaiting())
  }

  /** Whether anything went to the client: from then on nothing can be sent elsewhere. */
  get answering(): boolean {
    return this.#exchange.served.begun
  }

  get usage(): Usage {
    return this.#reader?.usage ?? noUsage
  }

  /** Whether the request's body has left for good: nothing refers to its memory any more. */
  get bodyTaken(): boolean {
    return this.#call?.bodyTaken ?? true
  }

  send(): void {
    const { served, requestId, incoming, api } = this.#exchange
    const { pool, apiKey } = this.#link
    const patienceMs = this.#patienceMs()
    const { method, headers } = served.head
    this.#call = pool.send(
      {
        method,
        path: incoming.path,
        headers: headersToEngine(headers, { requestId, apiKey, observed: api !== 'other' }),
        body: incoming.body,
        once: incoming.storesState,
        firstByteTimeoutMs: patienceMs,
        idleTimeoutMs: patienceMs,
      },
      this,
    )
  }

  /** Drops the attempt; the engine sees its connection close. */
  abort(): void {
    this.#over = true
    this.#keepAlive.stop()
    this.#call?.abort()
  }

  /** The client took what was written. */
  clientDrained(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#call!.resume()
  }

  /** Ends it from our side. */
  giveUp(why: 'engine gone' | 'endpoint removed' | 'shutting down' | 'internal'): void {
    if (!this.#over) this.#breakAnswer(breakages[why])
  }

  // What the engine does. A fault of ours in here ends this request, not the process.

  connected(): void {
    this.phase = 'sent'
  }

  headers(status: number, raw: readonly string[], reason: string): void {
    if (this.#over) return
    try {
      this.#headersCame(status, raw, reason)
    } catch (error) {
      this.#exchange.crashed(error)
    }
  }

  body(payload: readonly Buffer[], raw: Buffer | null): void {
    if (this.#over) return
    try {
      this.#bodyCame(payload, raw)
    } catch (error) {
      this.#exchange.crashed(error)
    }
  }

  end(): void {
    if (this.#over) return
    try {
      this.#ended()
    } catch (error) {
      this.#exchange.crashed(error)
    }
  }

  error(failure: UpstreamFailure): void {
    if (this.#over) return
    try {
      this.#failed(failure)
    } catch (error) {
      this.#exchange.crashed(error)
    }
  }

  #headersCame(status: number, raw: readonly string[], reason: string): void {
    const exchange = this.#exchange
    this.phase = 'headers'
    this.lastSignMs = exchange.gateway.nowMs()
    const refusal = refusalOf(status, raw, exchange.incoming.storesState)
    if (refusal !== null && !this.answering && exchange.attemptFailed(refusal, true)) {
      this.abort()
      return
    }
    const { clientRequestId, requestId, incoming, api } = exchange
    const read = headersToClient(raw, clientRequestId ?? requestId)
    const { headers, contentType, contentLength, encoded } = read
    const sse = contentType.startsWith('text/event-stream')
    if (sse) headers.push('x-accel-buffering', 'no')
    this.#addOwnHeaders(headers)
    const untilClose = contentLength === null && headerOf(raw, 'transfer-encoding') === null
    this.#head = { status, reason, headers, contentLength, sse, untilClose }
    const readAs = encoded ? 'application/octet-stream' : contentType
    this.#reader = answerReader(api, readAs, status, incoming.prompt)
    if (incoming.storesState && api === 'other' && status < 300 && !encoded) {
      this.#storedId = new StoredIdReader()
    }
    if (encoded && incoming.prompt !== null) {
      exchange.gateway.parts.metrics.fellBack('answer-not-understood')
    }
    if (this.answering && !(status < 300 && sse && !encoded)) {
      this.#lateError = new LateError(status)
      this.#keepAlive.stop()
    } else if (!sse || encoded) {
      this.#keepAlive.stop()
    }
  }

  #bodyCame(payload: readonly Buffer[], raw: Buffer | null): void {
    if (this.#lateError !== null) {
      this.#lateError.push(payload)
      return
    }
    const { served, gateway } = this.#exchange
    const nowMs = gateway.nowMs()
    if (this.phase === 'headers') this.#bodyBegins()
    const free = served.write(payload, raw)
    if (this.#head!.sse) this.#boundary.push(payload)
    this.#readAlong(payload, nowMs)
    this.lastSignMs = nowMs
    if (free || this.#paused || this.#over) return
    this.#paused = true
    this.#call!.pause()
  }

  #bodyBegins(): void {
    const { sse } = this.#head!
    this.phase = sse ? 'stream' : 'body'
    this.#keepAlive.stop()
    this.#begin()
    this.#exchange.bodyNoLongerNeeded()
    // A stream's first bytes need not be a token: a role, or a ping while the prompt is read.
    if (!sse) this.#tokensFlow()
  }

  #begin(): void {
    this.#exchange.status ??= this.#head!.status
    this.#exchange.served.begin(this.#head!)
  }

  /** From now on only silence between tokens is timed. */
  #tokensFlow(): void {
    this.#call!.setTimeouts(null, this.#exchange.gateway.parts.config.streamIdleTimeoutMs)
  }

  #readAlong(payload: readonly Buffer[], nowMs: number): void {
    const reader = this.#reader!
    for (const piece of payload) reader.push(piece)
    this.#storedId?.push(payload)
    const events = reader.outputEvents
    if (events === this.#events || !this.#head!.sse) return
    if (this.#events === 0) this.#firstToken(nowMs)
    else this.series.interToken((nowMs - this.lastSignMs) / (events - this.#events))
    this.#events = events
    if (events - this.#eventsTold < progressEvents) return
    this.#eventsTold = events
    const { requestId, gateway } = this.#exchange
    gateway.tell({ type: 'output-progressed', atMs: nowMs, requestId, outputTokens: events })
  }

  #firstToken(nowMs: number): void {
    const exchange = this.#exchange
    exchange.firstTokenMs = nowMs
    this.#tokensFlow()
    const { requestId, gateway, receivedMs } = exchange
    gateway.tell({ type: 'first-token', atMs: nowMs, requestId })
    const sinceDispatchMs = nowMs - this.dispatchedMs
    this.series.firstToken(nowMs - receivedMs, sinceDispatchMs, this.#dispatch.predictedTtftMs)
    this.#rememberOwner()
  }

  #rememberOwner(): void {
    const id = this.#storedId === null ? this.#reader!.responseId : this.#storedId.id()
    if (id === null) return
    this.#exchange.gateway.parts.owners.remember(id, this.#dispatch.endpoint)
  }

  #ended(): void {
    const reader = this.#reader!
    const { status, sse, untilClose } = this.#head!
    reader.end()
    if (this.#lateError !== null) {
      this.#tellLateError(this.#lateError)
      return
    }
    const bodyless = this.phase === 'headers'
    if (bodyless) this.#begin()
    this.#rememberOwner()
    const mustBeWhole = status < 300 && (sse || (untilClose && !bodyless))
    if (mustBeWhole && !reader.complete && reader.errorEvent === null) {
      this.#breakAnswer(breakages.truncated)
      return
    }
    this.#over = true
    this.#keepAlive.stop()
    this.#exchange.served.end()
    const errorEvent = reader.errorEvent !== null
    const failed = status >= 400 || errorEvent
    this.#exchange.answerEnded({
      outcome: failed ? 'failed' : 'done',
      phase: this.phase,
      cause: errorEvent ? 'error event' : failed ? `status ${status}` : 'done',
      endpointFault: errorEvent || status >= 500,
      usage: this.#usageOrEstimate(),
      answered: failed ? null : reader.answered(),
    })
  }

  /** Where the engine reports no output tokens, its events are counted instead. */
  #usageOrEstimate(): Usage {
    const { usage, outputEvents, gaveUp } = this.#reader!
    const { metrics } = this.#exchange.gateway.parts
    const understood = this.#exchange.incoming.prompt !== null && this.#head!.status < 300
    if (gaveUp) metrics.fellBack('answer-not-understood')
    if (!understood) return usage
    if (usage.promptTokens === null) metrics.fellBack('usage-unreported')
    else if (usage.cachedTokens === null) metrics.fellBack('cached-tokens-unreported')
    if (usage.outputTokens !== null || outputEvents === 0) return usage
    return { ...usage, outputTokens: outputEvents }
  }

  #failed(failure: UpstreamFailure): void {
    if (this.answering) {
      this.#breakAnswer(breakageOf(failure))
      return
    }
    this.#over = true
    this.#keepAlive.stop()
    const exchange = this.#exchange
    exchange.attemptFailed(failureOf(failure, exchange.incoming.storesState), false)
  }

  /** What the client has is not whole: it is told so, in its API's words where it streams. */
  #breakAnswer({ code, message, cause, endpointFault }: Breakage): void {
    const exchange = this.#exchange
    const { api, requestId } = exchange
    const inStream = this.#head === null || (this.#head.sse && this.#head.contentLength === null)
    const words = inStream ? renderErrorEvent(api, code, message, requestId) : null
    this.#breakWith(words, cause, endpointFault)
  }

  #tellLateError(late: LateError): void {
    const { api, requestId } = this.#exchange
    this.#breakWith(late.event(api, requestId), `status ${late.status}`, late.status >= 500)
  }

  #breakWith(words: string | null, cause: string, endpointFault: boolean): void {
    this.abort()
    const exchange = this.#exchange
    // What broke off within an event must not swallow the words.
    const apart = words === null || this.#boundary.between ? words : `\n\n${words}`
    exchange.served.break(apart === null ? null : Buffer.from(apart))
    exchange.answerEnded({
      outcome: 'failed',
      phase: this.phase,
      cause,
      endpointFault,
      usage: this.usage,
      answered: null,
    })
  }

  #addOwnHeaders(headers: string[]): void {
    if (!this.#exchange.gateway.parts.config.responseHeaders) return
    const { endpoint, reasons, queueWaitMs } = this.#dispatch
    headers.push('x-warmpath-endpoint', endpoint, 'x-warmpath-reason', reasons.summary)
    if (queueWaitMs >= 1) headers.push('x-warmpath-held-ms', String(Math.round(queueWaitMs)))
    headers.push('x-warmpath-request-id', this.#exchange.requestId)
  }

  /** How long the engine may be silent before its first token: the limit beyond the prediction. */
  #patienceMs(): number {
    const { firstByteTimeoutMs } = this.#exchange.gateway.parts.config
    return firstByteTimeoutMs + predictionSlack * this.#dispatch.predictedTtftMs
  }

  /** Commits the answer to status 200 where the engine has not spoken yet. */
  #stillWaiting(): void {
    const { served, requestId, clientRequestId } = this.#exchange
    if (this.#head !== null) {
      this.#begin()
    } else if (!this.answering) {
      const headers = ['content-type', 'text/event-stream; charset=utf-8']
      headers.push('cache-control', 'no-cache', 'x-accel-buffering', 'no')
      headers.push('x-request-id', clientRequestId ?? requestId)
      this.#addOwnHeaders(headers)
      this.#exchange.status = 200
      served.begin({ status: 200, reason: '', headers, contentLength: null })
    }
    served.write(keepAliveComment, null)
  }
}

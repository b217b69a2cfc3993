/**
 * One attempt at one engine: sends the request, reads the answer along while its bytes go to the
 * client, and judges how it ended.
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
import type { Exchange } from './exchange.ts'
import { type Breakage, breakages, failureOf, retryAfterOf } from './failures.ts'
import type { EngineLink } from './gateway.ts'
import { headersToClient, headersToEngine } from './headers.ts'

/** The router hears of output after so many events, not after each. */
const progressEvents = 64
/** A prediction is trusted up to this factor before an engine counts as silent. */
const predictionSlack = 3

const keepAliveComment = [Buffer.from(': waiting\n\n')]

export class EngineAttempt implements UpstreamHandler {
  readonly dispatchedMs: number
  readonly series: ServedSeries
  lastSignMs: number
  phase: Phase = 'connect'
  readonly #exchange: Exchange
  readonly #dispatch: Dispatch
  readonly #link: EngineLink
  #call: UpstreamCall | null = null
  #head: (AnswerHead & { readonly headers: string[] }) | null = null
  #reader: AnswerReader | null = null
  #sse = false
  #events = 0
  #eventsTold = 0
  #paused = false
  #cancelKeepAlive: (() => void) | null = null
  #over = false

  constructor(exchange: Exchange, dispatch: Dispatch, link: EngineLink, series: ServedSeries) {
    this.#exchange = exchange
    this.#dispatch = dispatch
    this.#link = link
    this.series = series
    this.dispatchedMs = exchange.gateway.nowMs()
    this.lastSignMs = this.dispatchedMs
  }

  /** Whether any of the engine's answer went to the client. */
  get answering(): boolean {
    return this.#exchange.served.begun
  }

  get usage(): Usage | null {
    return this.#reader?.usage ?? null
  }

  send(): void {
    const { served, requestId, incoming } = this.#exchange
    const { pool, apiKey } = this.#link
    const patienceMs = this.#patienceMs()
    this.#call = pool.send(
      {
        method: served.head.method,
        path: incoming.path,
        headers: headersToEngine(served.head.headers, { requestId, apiKey }),
        body: incoming.body,
        firstByteTimeoutMs: patienceMs,
        idleTimeoutMs: patienceMs,
      },
      this,
    )
    this.#armKeepAlive()
  }

  /** Drops the attempt; the engine sees its connection close. */
  abort(): void {
    this.#over = true
    this.#cancelKeepAlive?.()
    this.#call?.abort()
  }

  connected(): void {
    this.phase = 'sent'
  }

  headers(status: number, raw: readonly string[], reason: string): void {
    if (this.#over) return
    const exchange = this.#exchange
    this.phase = 'headers'
    this.lastSignMs = exchange.gateway.nowMs()
    if ((status === 503 || status === 429) && !exchange.served.begun) {
      // Refused before anything was processed: somebody else may take it.
      const failure = {
        phase: this.phase,
        cause: `status ${status}`,
        mayRun: false,
        endpointFault: status === 503,
        repeatable: true,
        retryAfterMs: retryAfterOf(raw),
      }
      if (exchange.attemptFailed(failure, true)) {
        this.abort()
        return
      }
    }
    const { headers, contentType, contentLength, encoded } = headersToClient(
      raw,
      exchange.clientRequestId,
    )
    this.#sse = contentType.startsWith('text/event-stream')
    if (this.#sse) headers.push('x-accel-buffering', 'no')
    this.#addOwnHeaders(headers)
    this.#head = { status, reason, headers, contentLength }
    const readAs = encoded ? 'application/octet-stream' : contentType
    this.#reader = answerReader(exchange.api, readAs, status, exchange.incoming.prompt)
    if (encoded && exchange.incoming.prompt !== null) {
      exchange.gateway.parts.metrics.fellBack('answer-not-understood')
    }
  }

  body(payload: readonly Buffer[], raw: Buffer | null): void {
    if (this.#over) return
    const exchange = this.#exchange
    const nowMs = exchange.gateway.nowMs()
    if (this.phase === 'headers') {
      this.phase = this.#sse ? 'stream' : 'body'
      this.#begin()
      this.#call!.setTimeouts(null, exchange.gateway.parts.config.streamIdleTimeoutMs)
    }
    this.#readAlong(payload, nowMs)
    this.lastSignMs = nowMs
    if (exchange.served.write(payload, raw) || this.#paused) return
    this.#paused = true
    this.#call!.pause()
  }

  /** The client took what was written. */
  clientDrained(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#call!.resume()
  }

  #begin(): void {
    this.#cancelKeepAlive?.()
    this.#exchange.status ??= this.#head!.status
    this.#exchange.served.begin(this.#head!)
  }

  #readAlong(payload: readonly Buffer[], nowMs: number): void {
    const reader = this.#reader!
    const exchange = this.#exchange
    for (const piece of payload) reader.push(piece)
    const events = reader.outputEvents
    if (events === this.#events) return
    if (this.#events === 0 && this.#sse) {
      exchange.firstTokenMs = nowMs
      const { requestId } = exchange
      exchange.gateway.tell({ type: 'first-token', atMs: nowMs, requestId })
      const sinceDispatchMs = nowMs - this.dispatchedMs
      const ttftMs = nowMs - exchange.receivedMs
      this.series.firstToken(ttftMs, sinceDispatchMs, this.#dispatch.predictedTtftMs)
      this.#rememberOwner()
    } else if (this.#sse) {
      this.series.interToken((nowMs - this.lastSignMs) / (events - this.#events))
    }
    this.#events = events
    if (events - this.#eventsTold < progressEvents) return
    this.#eventsTold = events
    const { requestId } = exchange
    exchange.gateway.tell({
      type: 'output-progressed',
      atMs: nowMs,
      requestId,
      outputTokens: events,
    })
  }

  #rememberOwner(): void {
    const responseId = this.#reader?.responseId ?? null
    if (responseId === null) return
    this.#exchange.gateway.parts.owners.remember(responseId, this.#dispatch.endpoint)
  }

  end(): void {
    if (this.#over) return
    this.#over = true
    this.#cancelKeepAlive?.()
    const exchange = this.#exchange
    const reader = this.#reader!
    const { status } = this.#head!
    reader.end()
    if (this.phase === 'headers') this.#begin()
    this.#rememberOwner()
    if (status < 300 && this.#sse && !reader.complete && reader.errorEvent === null) {
      this.#breakAnswer(breakages.truncated)
      return
    }
    exchange.served.end()
    const errorEvent = reader.errorEvent !== null
    const failed = status >= 400 || errorEvent
    exchange.answerEnded({
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

  error(failure: UpstreamFailure): void {
    if (this.#over) return
    const exchange = this.#exchange
    if (!exchange.served.begun) {
      this.#over = true
      this.#cancelKeepAlive?.()
      const { storesState } = exchange.incoming
      exchange.attemptFailed(failureOf(failure, storesState), false)
      return
    }
    const timedOut = failure.cause === 'idle-timeout' || failure.cause === 'first-byte-timeout'
    this.#breakAnswer(timedOut ? breakages.silent : breakages.broken)
  }

  /** Ends it from our side: the engine is gone, or we are going. */
  giveUp(why: 'engine gone' | 'shutting down' | 'internal'): void {
    if (this.#over) return
    const exchange = this.#exchange
    if (exchange.served.begun) {
      this.#breakAnswer(breakages[why])
      return
    }
    this.abort()
    exchange.attemptFailed(
      {
        phase: this.phase,
        cause: why,
        mayRun: true,
        endpointFault: why === 'engine gone',
        repeatable: why === 'engine gone' && !exchange.incoming.storesState,
        retryAfterMs: null,
      },
      false,
    )
  }

  /** What the client has is not whole: it is told so, in its API's words where it streams. */
  #breakAnswer({ code, message, cause, endpointFault }: Breakage): void {
    const exchange = this.#exchange
    this.abort()
    const { api, requestId, served } = exchange
    const inStream = this.#sse && this.#head!.contentLength === null
    const words = inStream ? Buffer.from(renderErrorEvent(api, code, message, requestId)) : null
    served.break(words)
    exchange.answerEnded({
      outcome: 'failed',
      phase: this.phase,
      cause,
      endpointFault,
      usage: this.#reader?.usage ?? { promptTokens: null, outputTokens: null, cachedTokens: null },
      answered: null,
    })
  }

  #addOwnHeaders(headers: string[]): void {
    if (!this.#exchange.gateway.parts.config.responseHeaders) return
    const { endpoint, reasons } = this.#dispatch
    headers.push('x-warmpath-endpoint', endpoint, 'x-warmpath-reason', reasons.summary)
    headers.push('x-warmpath-request-id', this.#exchange.requestId)
  }

  /** How long the engine may be silent before its first byte: the limit beyond the prediction. */
  #patienceMs(): number {
    const { firstByteTimeoutMs } = this.#exchange.gateway.parts.config
    return firstByteTimeoutMs + predictionSlack * this.#dispatch.predictedTtftMs
  }

  /** Intermediaries cut silent connections; a comment now and then keeps them open (F127). */
  #armKeepAlive(): void {
    const { config, scheduler } = this.#exchange.gateway.parts
    const streams = this.#exchange.incoming.arrived.streaming
    if (config.sseKeepAliveMs === 0 || !streams) return
    this.#cancelKeepAlive = scheduler.at(scheduler.nowMs() + config.sseKeepAliveMs, () => {
      this.#cancelKeepAlive = null
      if (this.#over) return
      if (!this.answering) this.#beginEarly()
      this.#exchange.served.write(keepAliveComment, null)
      this.#armKeepAlive()
    })
  }

  #beginEarly(): void {
    const headers = ['content-type', 'text/event-stream; charset=utf-8']
    headers.push('cache-control', 'no-cache', 'x-accel-buffering', 'no')
    this.#addOwnHeaders(headers)
    this.#sse = true
    this.#exchange.status = 200
    this.#head = { status: 200, reason: '', headers, contentLength: null }
    this.#exchange.served.begin(this.#head)
  }
}

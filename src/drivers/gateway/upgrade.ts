/**
 * One upgraded connection (a realtime WebSocket): routed like any request at its handshake, then a
 * tunnel to that endpoint for as long as both sides want it.
 */
import type { Duplex } from 'node:stream'
import { type ErrorCode, errorCatalogue } from '../../base/errors.ts'
import { emptyChain } from '../../core/block-chain.ts'
import type { Dispatch, Refuse } from '../../core/decisions.ts'
import type { EndpointKey, Outcome, Phase } from '../../core/events.ts'
import { tunnel } from '../../io/http1/tunnel.ts'
import type { UpstreamCall, UpstreamFailure, UpstreamHandler } from '../../io/http1/upstream.ts'
import type { RequestReceiver, ServedRequest } from '../../io/http1-server/served.ts'
import { logLines } from '../../observe/log-lines.ts'
import { renderErrorBody } from '../../protocol/error-body.ts'
import { failureOf } from './failures.ts'
import type { Gateway } from './gateway.ts'
import { headersToClient, headersToEngine } from './headers.ts'
import { tenantOf } from './incoming.ts'
import type { OpenExchange } from './open-exchange.ts'

/** The engine's answer to the handshake may take this long. */
const handshakeTimeoutMs = 30_000
/** A side that has ended waits this long for the end of the other. */
const halfClosedMsMax = 5_000

const noUsage = { promptTokens: null, outputTokens: null, cachedTokens: null } as const

export class Upgrade implements OpenExchange, UpstreamHandler {
  readonly requestId: string
  /** A tunnel may be silent for as long as it likes. */
  readonly servedBy = null
  readonly lastSignMs = Number.POSITIVE_INFINITY
  readonly #gateway: Gateway
  readonly #served: ServedRequest
  readonly #receivedMs: number
  #model: string | null = null
  #dispatch: Dispatch | null = null
  #call: UpstreamCall | null = null
  #phase: Phase = 'connect'
  #status: number | null = null
  #tunnel: readonly Duplex[] = []
  #paused = false
  #cancelCut: (() => void) | null = null
  #over = false

  constructor(gateway: Gateway, served: ServedRequest) {
    this.#gateway = gateway
    this.#served = served
    this.requestId = gateway.nextRequestId()
    this.#receivedMs = gateway.nowMs()
    gateway.opened(this)
  }

  #start(): void {
    const gateway = this.#gateway
    const { head } = this.#served
    const { config, recent } = gateway.parts
    const named = new URL(head.target, 'http://router').searchParams.get('model')
    const alias = named !== null && Object.hasOwn(config.aliases, named)
    this.#model = alias ? config.aliases[named]! : named
    const arrived = {
      type: 'request-arrived',
      atMs: this.#receivedMs,
      requestId: this.requestId,
      model: this.#model,
      chain: emptyChain,
      promptBytes: 0,
      maxOutputTokens: null,
      streaming: true,
      sessionKey: null,
      tenant: tenantOf(head.headers, config),
      priorityClass: 'standard',
      pinnedTo: null,
    } as const
    recent.arrived(arrived)
    gateway.tell(arrived)
  }

  get endpoint(): EndpointKey | null {
    return this.#dispatch?.endpoint ?? null
  }

  // What the router decides.

  dispatched(dispatch: Dispatch): void {
    this.#dispatch = dispatch
    this.#phase = 'connect'
    const { pool, apiKey } = this.#gateway.parts.links.get(dispatch.endpoint)!
    const { head } = this.#served
    const { requestId } = this
    this.#call = pool.send(
      {
        method: head.method,
        path: head.target,
        headers: headersToEngine(head.headers, { requestId, apiKey, observed: false }),
        body: null,
        upgrade: head.upgrade!,
        firstByteTimeoutMs: handshakeTimeoutMs,
      },
      this,
    )
  }

  refused({ code, message }: Refuse): void {
    this.#refuse(code, message)
  }

  /** A handshake has no prompt that could be worth waiting for. */
  readonly isHeld = false

  held(): void {}

  coreRebuilt(): void {}

  engineGone(): void {}

  endpointRemoved(): void {
    this.#end('failed', 'endpoint removed', false)
  }

  shutDown(): void {
    this.#end('failed', 'shutting down', false)
  }

  fault(): void {
    this.#end('failed', 'internal', false)
  }

  // What the engine does.

  connected(): void {
    this.#phase = 'sent'
  }

  /** It answered, but did not switch: the client gets that answer. */
  headers(status: number, raw: readonly string[], reason: string): void {
    const { headers, contentLength } = headersToClient(raw, null)
    this.#phase = 'body'
    this.#status = status
    this.#served.begin({ status, reason, headers, contentLength })
  }

  body(payload: readonly Buffer[], raw: Buffer | null): void {
    if (this.#served.write(payload, raw) || this.#paused) return
    this.#paused = true
    this.#call!.pause()
  }

  end(): void {
    this.#served.end()
    this.#finished(`status ${this.#status}`, this.#status! >= 500)
  }

  error(failure: UpstreamFailure): void {
    if (this.#served.begun) {
      this.#end('failed', failure.cause, true)
      return
    }
    const gateway = this.#gateway
    const { endpoint, attempt } = this.#dispatch!
    const { phase, cause, mayRun, endpointFault, repeatable } = failureOf(failure, false)
    gateway.parts.metrics.attemptFailed(endpoint, phase, cause)
    if (endpointFault) gateway.parts.probeSoon(endpoint)
    gateway.tell({
      type: 'attempt-failed',
      atMs: gateway.nowMs(),
      requestId: this.requestId,
      phase,
      cause,
      mayRun,
      endpointFault,
      mayRetry: repeatable && !mayRun && attempt <= gateway.parts.config.retriesMax,
      retryAfterMs: null,
    })
  }

  upgrade(engine: Duplex, early: Buffer, headers: readonly string[]): void {
    if (this.#over) {
      engine.destroy()
      return
    }
    this.#phase = 'stream'
    this.#status = 101
    const { socket, head } = this.#served.takeSocket()
    this.#tunnel = [socket, engine]
    socket.write(switchingHead(headersToClient(headers, null).headers, this.#served.head.upgrade!))
    if (early.length > 0) socket.write(early)
    if (head.length > 0) engine.write(head)
    for (const side of this.#tunnel) side.once('end', () => this.#halfClosed())
    tunnel(socket, engine, (inGoodOrder) => this.#finished(inGoodOrder ? 'done' : 'cut', false))
  }

  /** One side has said its last; the other may still close in good order. */
  #halfClosed(): void {
    const { scheduler } = this.#gateway.parts
    this.#cancelCut ??= scheduler.at(scheduler.nowMs() + halfClosedMsMax, () => {
      for (const side of this.#tunnel) side.destroy()
    })
  }

  /** What the client does; the request of a handshake has no body. */
  readonly receiver: RequestReceiver = {
    body() {},
    bodyEnd: () => this.#start(),
    bodyFailed: (code, message) => this.#refuse(code, message),
    drain: () => this.#drained(),
    gone: () => this.#end('client-gone', 'client closed', false),
  }

  #drained(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#call!.resume()
  }

  #refuse(code: ErrorCode, message: string): void {
    const { metrics, log } = this.#gateway.parts
    metrics.refused(code)
    log.log(logLines.requestRefused(this.requestId, null, code, message))
    const body = Buffer.from(renderErrorBody('other', code, message, this.requestId))
    const headers = ['content-type', 'application/json']
    const { status } = errorCatalogue[code]
    this.#served.begin({ status, reason: '', headers, contentLength: body.length })
    this.#served.write([body], null)
    this.#served.end()
    this.#close()
  }

  /** Both sides are cut. */
  #end(outcome: Outcome, cause: string, endpointFault: boolean): void {
    if (this.#over) return
    this.#call?.abort()
    if (this.#tunnel.length > 0) for (const side of this.#tunnel) side.destroy()
    else this.#served.break(null)
    this.#tell(outcome, cause, endpointFault)
  }

  #finished(cause: string, endpointFault: boolean): void {
    const outcome = cause === 'done' ? 'done' : 'failed'
    if (!this.#over) this.#tell(outcome, cause, endpointFault)
  }

  #tell(outcome: Outcome, cause: string, endpointFault: boolean): void {
    const gateway = this.#gateway
    const dispatch = this.#dispatch
    const nowMs = gateway.nowMs()
    this.#close()
    if (dispatch === null) return
    const end = { outcome, phase: this.#phase, cause, usage: noUsage }
    const { requestId } = this
    const told = { type: 'request-ended', atMs: nowMs, requestId, ...end } as const
    gateway.tell({ ...told, endpointFault, answered: null })
    const { recent, metrics } = gateway.parts
    const e2eMs = nowMs - this.#receivedMs
    const measured = { status: this.#status, ttftMs: null, ttftSinceDispatchMs: null, e2eMs }
    const { endpoint, attempt } = dispatch
    recent.ended(requestId, { atMs: nowMs, ...end, ...measured, endpoint, attempts: attempt })
    metrics.served(this.#model, endpoint).ended({
      outcome,
      status: this.#status,
      e2eMs,
      usage: noUsage,
      predictedCachedTokens: null,
    })
  }

  #close(): void {
    if (this.#over) return
    this.#over = true
    this.#cancelCut?.()
    this.#gateway.closed(this)
  }
}

/** The answer that makes the connection the protocol's own. */
function switchingHead(headers: readonly string[], protocol: string): string {
  let text = 'HTTP/1.1 101 Switching Protocols\r\n'
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  return `${text}Connection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`
}

import type { Scheduler } from '../../base/scheduler.ts'
import { Connection, type ConnectionOptions, type ConnectionOwner } from './connection.ts'
import { Exchange, type ExchangeOwner } from './exchange.ts'
import { http1Limits } from './limits.ts'
import { NameLookup } from './name-lookup.ts'
import { type Origin, parseOrigin } from './origin.ts'
import { BadRequest, encodeRequestHead } from './request-head.ts'
import type {
  UpstreamCall,
  UpstreamFailureCause,
  UpstreamHandler,
  UpstreamOptions,
  UpstreamRequest,
  UpstreamStats,
} from './upstream.ts'

/**
 * Pooled HTTP/1.1 connections to one origin, `http://host:port` or `https://host:port`. The warmest
 * socket is taken first, so that surplus ones rest until they are closed.
 */
export class UpstreamPool implements ConnectionOwner, ExchangeOwner {
  readonly connectTimeoutMs: number
  readonly #origin: Origin
  readonly #connectionOptions: ConnectionOptions
  readonly #names: NameLookup
  readonly #idleSocketMs: number
  readonly #connectionsMax: number
  readonly #scheduler: Scheduler
  readonly #connections = new Set<Connection>()
  /** Resting, the warmest last. */
  #resting: Connection[] = []
  /** In no order; each knows its place. */
  readonly #exchanges: Exchange[] = []
  #closed = false
  #wakeAtMs = Number.POSITIVE_INFINITY
  #cancelWake: (() => void) | null = null
  #opened = 0
  #reused = 0
  #resent = 0
  #closedByServer = 0

  constructor(origin: string, options: UpstreamOptions, scheduler: Scheduler) {
    this.#origin = parseOrigin(origin)
    this.#scheduler = scheduler
    this.connectTimeoutMs = options.connectTimeoutMs ?? http1Limits.connectTimeoutMs
    this.#idleSocketMs = options.idleSocketMs ?? http1Limits.idleSocketMs
    this.#connectionsMax = options.connectionsMax ?? http1Limits.connectionsMax
    this.#names = new NameLookup(scheduler, options.lookup)
    this.#connectionOptions = {
      origin: this.#origin,
      headBytesMax: options.headBytesMax ?? http1Limits.headBytesMax,
      tls: options.tls,
      lookup: this.#names.lookup,
    }
  }

  /** Never throws: whatever is wrong comes as `handler.error`. */
  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    let head = ''
    let refusal: BadRequest | null = null
    try {
      head = encodeRequestHead(request, this.#origin.authority)
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      refusal = error
    }
    const exchange = new Exchange(request, handler, head, this)
    exchange.place = this.#exchanges.push(exchange) - 1
    if (refusal !== null) failSoon(exchange, 'bad-request', refusal.message)
    else if (this.#closed) failSoon(exchange, 'pool-closed', 'the pool is closed')
    else this.#place(exchange)
    return exchange
  }

  /** Closes resting sockets and fails what runs with `pool-closed`. */
  close(): void {
    this.#closed = true
    for (const exchange of [...this.#exchanges]) {
      exchange.failed('pool-closed', 'the pool was closed')
    }
    for (const connection of this.#resting.splice(0)) connection.destroy()
    this.#cancelWake?.()
    this.#cancelWake = null
    this.#wakeAtMs = Number.POSITIVE_INFINITY
  }

  get stats(): UpstreamStats {
    return {
      open: this.#connections.size,
      idle: this.#resting.length,
      opened: this.#opened,
      reused: this.#reused,
      resent: this.#resent,
      closedByServerWhileIdle: this.#closedByServer,
    }
  }

  #place(exchange: Exchange): void {
    const { upgrade, once = false } = exchange.request
    // A connection that may be upgraded leaves the pool, so it never comes from there.
    const resting = upgrade === undefined ? this.#takeResting(once) : null
    if (resting === null) {
      this.#connect(exchange)
      return
    }
    this.#reused++
    exchange.sendOnResting(resting)
  }

  #takeResting(once: boolean): Connection | null {
    const nowMs = this.nowMs()
    for (;;) {
      const connection = this.#resting.at(-1)
      if (connection === undefined) return null
      // All others have rested for longer.
      if (once && nowMs - connection.restSinceMs > http1Limits.onceRestMsMax) return null
      this.#resting.pop()
      if (connection.usable && nowMs < connection.restUntilMs) return connection
      connection.destroy()
    }
  }

  #connect(exchange: Exchange): void {
    if (this.#connections.size >= this.#connectionsMax) {
      failSoon(exchange, 'too-many-connections', `${this.#connectionsMax} sockets are open`)
      return
    }
    const connection = new Connection(this.#connectionOptions, this, exchange)
    this.#connections.add(connection)
    this.#opened++
    exchange.connecting(connection)
  }

  // What exchanges say.

  nowMs(): number {
    return this.#scheduler.nowMs()
  }

  settled(exchange: Exchange): void {
    const last = this.#exchanges.pop()!
    if (last === exchange) return
    this.#exchanges[exchange.place] = last
    last.place = exchange.place
  }

  resend(exchange: Exchange): void {
    this.#resent++
    this.#connect(exchange)
  }

  release(connection: Connection, hintMs: number): void {
    const restMs =
      hintMs < 0
        ? this.#idleSocketMs
        : Math.min(hintMs - http1Limits.idleHintMarginMs, http1Limits.idleHintMaxMs)
    if (this.#closed || restMs <= 0 || !connection.usable) {
      connection.destroy()
      return
    }
    connection.restSinceMs = this.nowMs()
    connection.restUntilMs = connection.restSinceMs + restMs
    this.#resting.push(connection)
    this.wakeBy(connection.restUntilMs)
  }

  // What connections say.

  idleClosed(connection: Connection): void {
    this.#closedByServer++
    this.#forgetResting(connection)
  }

  socketClosed(connection: Connection): void {
    this.#connections.delete(connection)
    this.#forgetResting(connection)
  }

  notConnected(): void {
    this.#names.forget()
  }

  #forgetResting(connection: Connection): void {
    const at = this.#resting.indexOf(connection)
    if (at >= 0) this.#resting.splice(at, 1)
  }

  // One timer for all deadlines: it is moved only when an earlier one appears.

  wakeBy(atMs: number): void {
    if (atMs >= this.#wakeAtMs || this.#closed) return
    this.#cancelWake?.()
    this.#wakeAtMs = Math.max(atMs, this.nowMs() + http1Limits.sweepMinMs)
    this.#cancelWake = this.#scheduler.at(this.#wakeAtMs, this.#sweep)
  }

  readonly #sweep = (): void => {
    this.#cancelWake = null
    this.#wakeAtMs = Number.POSITIVE_INFINITY
    const nowMs = this.nowMs()
    let nextMs = Number.POSITIVE_INFINITY
    const kept: Connection[] = []
    for (const connection of this.#resting) {
      if (connection.restUntilMs <= nowMs) {
        connection.destroy()
      } else {
        kept.push(connection)
        nextMs = Math.min(nextMs, connection.restUntilMs)
      }
    }
    this.#resting = kept
    for (const exchange of [...this.#exchanges]) {
      if (exchange.deadlineMs <= nowMs) exchange.timedOut()
      else nextMs = Math.min(nextMs, exchange.deadlineMs)
    }
    this.wakeBy(nextMs)
  }
}

function failSoon(exchange: Exchange, cause: UpstreamFailureCause, detail: string): void {
  process.nextTick(() => exchange.failed(cause, detail))
}

/**
 * The driver around the core: it stamps events with the time, hands them to the router, and acts on
 * what the router decides. It also holds what all requests share.
 */
import type { Scheduler } from '../../base/scheduler.ts'
import { SlotMap } from '../../base/slot-map.ts'
import type { Config } from '../../config/config.ts'
import type { Decision } from '../../core/decisions.ts'
import type { EndpointKey, RouterEvent } from '../../core/events.ts'
import type { Router } from '../../core/router.ts'
import type { UpstreamPool } from '../../io/http1/upstream-pool.ts'
import type { DecisionLog } from '../../observe/decision-log.ts'
import { logLines } from '../../observe/log-lines.ts'
import type { Logger } from '../../observe/logger.ts'
import type { Metrics } from '../../observe/metrics.ts'
import type { RecentDecisions } from '../../observe/recent-decisions.ts'
import { BodyPool } from './body-pool.ts'
import { EndpointExits } from './endpoint-exits.ts'
import { FleetMemory } from './fleet-memory.ts'
import type { OpenExchange } from './open-exchange.ts'
import type { ResponseOwners } from './response-owners.ts'
import { RetryBudget } from './retry-budget.ts'

/** What is needed to reach one engine. */
export interface EngineLink {
  readonly pool: UpstreamPool
  readonly apiKey: string | null
}

export interface GatewayParts {
  /** The values in force: read again each time, as they may change while the router runs. */
  readonly config: Config
  readonly log: Logger
  readonly metrics: Metrics
  readonly recent: RecentDecisions
  readonly decisionLog: DecisionLog | null
  readonly scheduler: Scheduler
  readonly makeRouter: () => Router
  readonly links: ReadonlyMap<EndpointKey, EngineLink>
  readonly owners: ResponseOwners
  /** Distinguishes the request ids of this process from those of others. */
  readonly idPrefix: string
  /** Asks for an endpoint's health at once. */
  readonly probeSoon: (endpoint: EndpointKey) => void
}

/** A stream silent for this long on an engine that refuses connections is given up (F137). */
const hungStreamMs = 5_000

export class Gateway {
  readonly parts: GatewayParts
  readonly retryBudget = new RetryBudget()
  readonly exits: EndpointExits
  readonly bodyPool = new BodyPool()
  draining = false
  #router: Router
  readonly #fleetMemory = new FleetMemory()
  readonly #exchanges = new SlotMap<OpenExchange>()
  #ids = 0
  #cancelWake: (() => void) | null = null
  #onIdle: (() => void) | null = null

  constructor(parts: GatewayParts) {
    this.parts = parts
    this.#router = parts.makeRouter()
    this.exits = new EndpointExits(parts.scheduler)
  }

  nowMs(): number {
    return this.parts.scheduler.nowMs()
  }

  get router(): Router {
    return this.#router
  }

  nextRequestId(): string {
    return `${this.parts.idPrefix}-${(this.#ids++).toString(36)}`
  }

  get openRequests(): number {
    return this.#exchanges.size
  }

  opened(exchange: OpenExchange): void {
    this.#exchanges.set(exchange.requestId, exchange)
  }

  closed(exchange: OpenExchange): void {
    this.#exchanges.delete(exchange.requestId)
    this.exits.left(exchange.endpoint, exchange)
    if (this.#exchanges.size === 0) this.#onIdle?.()
  }

  /** What was sent to the endpoint last and is not over. */
  *openAt(endpoint: EndpointKey): Iterable<OpenExchange> {
    for (const exchange of this.#exchanges.values()) {
      if (exchange.endpoint === endpoint) yield exchange
    }
  }

  /** Resolves when no request is open; at once when none is. */
  idle(): Promise<void> {
    if (this.#exchanges.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onIdle = resolve
    })
  }

  /** Those that have not begun need not wait any longer: their clients go elsewhere. */
  refuseHeld(): void {
    for (const exchange of this.#exchanges.values()) if (exchange.isHeld) exchange.shutDown()
  }

  /** Ends what is still open, each client told. */
  breakAll(): void {
    for (const exchange of this.#exchanges.values()) exchange.shutDown()
  }

  /** Tells the router something and does what it decides. */
  tell(event: RouterEvent): void {
    const exchange = 'requestId' in event ? this.#exchanges.get(event.requestId) : undefined
    if ('endpoint' in event) this.#fleetMemory.told(event)
    const endpoint = exchange?.endpoint ?? null
    const { counters } = this.#router
    const ejectionsBefore = counters.ejections
    let decisions: readonly Decision[]
    try {
      decisions = this.#router.handle(event)
    } catch (error) {
      this.#coreFailed(error, exchange)
      return
    }
    if (counters.ejections > ejectionsBefore && endpoint !== null) {
      const cause = 'cause' in event ? event.cause : 'requests failed'
      this.parts.metrics.ejected(endpoint, cause)
      this.parts.log.log(logLines.endpointEjected(endpoint, cause))
    }
    for (const decision of decisions) this.#act(decision, event.atMs)
  }

  /**
   * The core found its own state wrong. A new one starts from what is known of the fleet; what it
   * had learned is lost, requests that run go on unseen by it, and the one at hand is given up.
   */
  #coreFailed(error: unknown, exchange: OpenExchange | undefined): void {
    const { log, metrics, makeRouter } = this.parts
    log.log(logLines.internalError(exchange?.requestId ?? null, error))
    metrics.fellBack('core-rebuilt')
    const router = makeRouter()
    for (const event of this.#fleetMemory.events(this.nowMs())) {
      try {
        router.handle(event)
      } catch (another) {
        // Without that endpoint, then: its watcher will tell of it again.
        log.log(logLines.internalError(null, another))
      }
    }
    this.#router = router
    exchange?.fault()
    for (const other of this.#exchanges.values()) other.coreRebuilt()
  }

  /** What a watcher found out about an endpoint. */
  learned(event: RouterEvent & { readonly endpoint: EndpointKey }): void {
    this.tell(event)
    const { decisionLog, metrics } = this.parts
    if (event.type === 'endpoint-described') {
      decisionLog?.endpoint(event)
      metrics.pinModels(event.description.models?.map((model) => model.id) ?? [])
    } else if (event.type === 'endpoint-probed' && !event.healthy) {
      if (event.reason === 'connection refused') this.#breakHung(event.endpoint)
    }
  }

  #breakHung(endpoint: EndpointKey): void {
    const beforeMs = this.nowMs() - hungStreamMs
    for (const exchange of this.#exchanges.values()) {
      if (exchange.servedBy === endpoint && exchange.lastSignMs <= beforeMs) exchange.engineGone()
    }
  }

  #act(decision: Decision, atMs: number): void {
    if (decision.type === 'wake') {
      this.#wakeAt(decision.atMs)
      return
    }
    const exchange = this.#exchanges.get(decision.requestId)
    if (exchange === undefined) return
    this.parts.recent.decided(atMs, decision)
    const { endpoint } = exchange
    if (decision.type === 'dispatch') {
      exchange.dispatched(decision)
      this.exits.left(endpoint, exchange)
    } else if (decision.type === 'refuse') exchange.refused(decision)
    else exchange.held(decision)
  }

  #wakeAt(atMs: number): void {
    this.#cancelWake?.()
    this.#cancelWake = this.parts.scheduler.at(atMs, () => {
      this.#cancelWake = null
      this.tell({ type: 'timer-due', atMs: this.nowMs() })
    })
  }

  stop(): void {
    this.#cancelWake?.()
  }
}

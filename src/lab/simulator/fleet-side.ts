/** The fleet's side: what the router is told of its endpoints, and what happens to them. */
import type { Scheduler } from '../../base/scheduler.ts'
import type { EndpointKey, RouterEvent } from '../../core/events.ts'
import type { RequestProgress } from '../engine/engine-report.ts'
import type { FleetChange } from './fleet-change.ts'
import type { FleetMember, SimulatedEngine, SimulatedFleet } from './simulated-fleet.ts'

/** Until the next health probe finds out, at the gateway's default. */
const probeMs = 1_000

export interface FleetSideOptions {
  readonly members: readonly FleetMember[]
  readonly changes: readonly FleetChange[]
  /** Between two scrapes of an engine; null is never. */
  readonly scrapeIntervalMs: number | null
  /** Age of a scrape when the router gets it. */
  readonly scrapeAgeMs: number
}

/** What the fleet's side needs of the rest of the world. */
export interface FleetHooks {
  /** Tells every router that is not done. */
  tell(event: RouterEvent): void
  routerRestarts(): void
  progressed(engine: SimulatedEngine, progress: RequestProgress): void
  /** The engine died with all that ran on it; returns how many requests that were. */
  lost(engine: SimulatedEngine): number
  inFlight(endpoint: EndpointKey): number
}

/** How long a member was there to be paid for; null while it still is. */
export interface Stay {
  readonly member: FleetMember
  readonly fromMs: number
  untilMs: number | null
}

export class FleetSide {
  readonly stays: Stay[] = []
  readonly #fleet: SimulatedFleet
  readonly #scheduler: Scheduler
  readonly #options: FleetSideOptions
  readonly #hooks: FleetHooks
  readonly #leaving = new Set<EndpointKey>()

  constructor(
    fleet: SimulatedFleet,
    scheduler: Scheduler,
    options: FleetSideOptions,
    hooks: FleetHooks,
  ) {
    this.#fleet = fleet
    this.#scheduler = scheduler
    this.#options = options
    this.#hooks = hooks
  }

  start(): void {
    for (const member of this.#options.members) this.#join(member)
    for (const change of this.#options.changes) {
      this.#scheduler.at(change.atMs, () => this.#change(change))
    }
  }

  /** A request was sent to a process that is not there: the gateway probes at once. */
  refused(endpoint: EndpointKey): void {
    this.#probe(endpoint)
  }

  /** A request on the endpoint ended: if it wants to leave and was the last, it goes. */
  idle(endpoint: EndpointKey): void {
    if (!this.#leaving.has(endpoint) || this.#hooks.inFlight(endpoint) > 0) return
    this.#leaving.delete(endpoint)
    const atMs = this.#scheduler.nowMs()
    this.#fleet.stop(this.#engine(endpoint))
    this.stays.findLast(({ member }) => member.endpoint === endpoint)!.untilMs = atMs
    this.#hooks.tell({ type: 'endpoint-left', atMs, endpoint })
  }

  /** Tells a router that knows nothing yet who is there. */
  introduce(tell: (event: RouterEvent) => void): void {
    for (const { member, untilMs } of this.stays) {
      if (untilMs !== null) continue
      const { endpoint } = member
      tell(this.#joining(member))
      if (this.#leaving.has(endpoint)) tell(this.#draining(endpoint))
      for (const event of this.#probing(endpoint)) tell(event)
    }
  }

  #change(change: FleetChange): void {
    if (change.type === 'router-restart') this.#hooks.routerRestarts()
    else if (change.type === 'join') this.#join(change.member)
    else this.#changeEndpoint(change)
  }

  #changeEndpoint(change: Extract<FleetChange, { readonly endpoint: EndpointKey }>): void {
    const atMs = this.#scheduler.nowMs()
    const { endpoint } = change
    const engine = this.#engine(endpoint)
    if (change.type === 'slow') {
      engine.model.slowdown = change.factor
    } else if (change.type === 'die') {
      this.#fleet.stop(engine)
      if (this.#hooks.lost(engine) > 0) this.#probe(endpoint)
      else this.#scheduler.at(atMs + probeMs, () => this.#probe(endpoint))
      this.idle(endpoint)
    } else if (change.type === 'return') {
      this.#begin(engine.member)
      this.#scheduler.at(atMs + probeMs, () => this.#probe(endpoint))
    } else {
      this.#leaving.add(endpoint)
      this.#hooks.tell(this.#draining(endpoint))
      this.idle(endpoint)
    }
  }

  #engine(endpoint: EndpointKey): SimulatedEngine {
    const engine = this.#fleet.get(endpoint)
    if (engine === undefined) throw new RangeError(`no endpoint ${endpoint} in the fleet`)
    return engine
  }

  #join(member: FleetMember): void {
    this.stays.push({ member, fromMs: this.#scheduler.nowMs(), untilMs: null })
    this.#begin(member)
    this.#hooks.tell(this.#joining(member))
    this.#probe(member.endpoint)
  }

  #begin(member: FleetMember): void {
    const engine = this.#fleet.start(member, (of, progress) => this.#hooks.progressed(of, progress))
    this.#scrapeLater(engine)
  }

  #probe(endpoint: EndpointKey): void {
    for (const event of this.#probing(endpoint)) this.#hooks.tell(event)
  }

  #joining({ endpoint, profile, told }: FleetMember): RouterEvent {
    const description = {
      engine: 'vllm',
      models: [{ id: profile.model, parent: null, maxModelLen: profile.contextTokensMax }],
      instanceId: this.#engine(endpoint).instanceId,
      kvCapacityTokens: profile.kvTokens,
      hostCapacityTokens: profile.hostTokens,
      runningMax: profile.runningMax,
      batchTokensMax: profile.batchTokensMax,
      pricePerHour: profile.pricePerHour,
      ...told,
    } as const
    return { type: 'endpoint-joined', atMs: this.#scheduler.nowMs(), endpoint, description }
  }

  #draining(endpoint: EndpointKey): RouterEvent {
    const atMs = this.#scheduler.nowMs()
    return { type: 'endpoint-draining', atMs, endpoint, draining: true }
  }

  /** What a health probe finds. */
  #probing(endpoint: EndpointKey): RouterEvent[] {
    const atMs = this.#scheduler.nowMs()
    const { alive, instanceId } = this.#engine(endpoint)
    const probed = { type: 'endpoint-probed', atMs, endpoint, healthy: alive } as const
    if (!alive) return [{ ...probed, reason: 'connection refused' }]
    const described = { type: 'endpoint-described', atMs, endpoint } as const
    return [
      { ...described, description: { instanceId } },
      { ...probed, reason: '' },
    ]
  }

  #scrapeLater(engine: SimulatedEngine): void {
    const { scrapeIntervalMs } = this.#options
    if (scrapeIntervalMs === null) return
    this.#scheduler.at(this.#scheduler.nowMs() + scrapeIntervalMs, () => {
      if (!engine.alive) return
      this.#scrape(engine)
      this.#scrapeLater(engine)
    })
  }

  #scrape({ model, member }: SimulatedEngine): void {
    const { endpoint } = member
    const signals = {
      running: model.running,
      waiting: model.waiting,
      kvUsage: model.pool.usage,
      asleep: false,
      prefixQueriedTokens: null,
      prefixHitTokens: null,
    }
    const tell = (): void => {
      const atMs = this.#scheduler.nowMs()
      this.#hooks.tell({ type: 'endpoint-observed', atMs, endpoint, signals })
    }
    const { scrapeAgeMs } = this.#options
    if (scrapeAgeMs === 0) tell()
    else this.#scheduler.at(this.#scheduler.nowMs() + scrapeAgeMs, tell)
  }
}

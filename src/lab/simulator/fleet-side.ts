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
  tell(event: RouterEvent): void
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

  #change(change: FleetChange): void {
    const atMs = this.#scheduler.nowMs()
    if (change.type === 'join') {
      this.#join(change.member)
      return
    }
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
      this.#hooks.tell({ type: 'endpoint-draining', atMs, endpoint, draining: true })
      this.idle(endpoint)
    }
  }

  #engine(endpoint: EndpointKey): SimulatedEngine {
    const engine = this.#fleet.get(endpoint)
    if (engine === undefined) throw new RangeError(`no endpoint ${endpoint} in the fleet`)
    return engine
  }

  #join(member: FleetMember): void {
    const { endpoint, profile, told } = member
    const atMs = this.#scheduler.nowMs()
    this.stays.push({ member, fromMs: atMs, untilMs: null })
    const { instanceId } = this.#begin(member)
    this.#hooks.tell({
      type: 'endpoint-joined',
      atMs,
      endpoint,
      description: {
        engine: 'vllm',
        models: [{ id: profile.model, parent: null, maxModelLen: profile.contextTokensMax }],
        instanceId,
        kvCapacityTokens: profile.kvTokens,
        hostCapacityTokens: profile.hostTokens,
        runningMax: profile.runningMax,
        batchTokensMax: profile.batchTokensMax,
        pricePerHour: profile.pricePerHour,
        ...told,
      },
    })
    this.#probe(endpoint)
  }

  #begin(member: FleetMember): SimulatedEngine {
    const engine = this.#fleet.start(member, (of, progress) => this.#hooks.progressed(of, progress))
    this.#scrapeLater(engine)
    return engine
  }

  #probe(endpoint: EndpointKey): void {
    const atMs = this.#scheduler.nowMs()
    const { alive, instanceId } = this.#engine(endpoint)
    if (alive) {
      const description = { instanceId }
      this.#hooks.tell({ type: 'endpoint-described', atMs, endpoint, description })
    }
    const reason = alive ? '' : 'connection refused'
    this.#hooks.tell({ type: 'endpoint-probed', atMs, endpoint, healthy: alive, reason })
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

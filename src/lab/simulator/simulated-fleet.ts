/** Engines in virtual time. */
import { type Random, seededRandom } from '../../base/random.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import type { EndpointKey } from '../../core/events.ts'
import type { EndpointDescription } from '../../core/fleet/endpoint.ts'
import { EngineLoop } from '../engine/engine-loop.ts'
import { EngineModel } from '../engine/engine-model.ts'
import type { RequestProgress } from '../engine/engine-report.ts'
import type { EngineProfile } from '../engine/profile.ts'
import { type CacheView, trueView } from './cache-view.ts'
import { EventView } from './event-view.ts'
import type { Information } from './information.ts'

/** Decode steps that may be one event: the more, the faster, and progress is seen later. */
const decodeStepsMax = 64

export interface FleetMember {
  readonly endpoint: EndpointKey
  /** Its blocks become the workload's, or most of what is shared would not be found. */
  readonly profile: EngineProfile
  /** What the engine says of itself where that is not the truth. */
  readonly told?: EndpointDescription
}

/** One life of an engine's process. */
export interface SimulatedEngine {
  readonly member: FleetMember
  readonly model: EngineModel
  readonly loop: EngineLoop
  readonly cache: CacheView
  /** Tells the lives of one endpoint apart. */
  readonly instanceId: string
  alive: boolean
}

/** Members alike, by number. */
export function replicas(profile: EngineProfile, count: number): FleetMember[] {
  return Array.from({ length: count }, (_, i) => ({ endpoint: `http://engine-${i}`, profile }))
}

export class SimulatedFleet {
  /** Every engine that ever ran, in the order of their starts. */
  readonly all: SimulatedEngine[] = []
  readonly #current = new Map<EndpointKey, SimulatedEngine>()
  readonly #scheduler: Scheduler
  readonly #information: Information
  readonly #random: Random
  readonly #blockTokens: number

  /** @param blockTokens of the workload's chains */
  constructor(scheduler: Scheduler, information: Information, seed: number, blockTokens: number) {
    this.#scheduler = scheduler
    this.#blockTokens = blockTokens
    this.#information = information
    this.#random = seededRandom(seed)
  }

  /** The engine at the endpoint's address, alive or the last one that was. */
  get(endpoint: EndpointKey): SimulatedEngine | undefined {
    return this.#current.get(endpoint)
  }

  /** A process starts at the member's address. */
  start(
    member: FleetMember,
    onProgress: (engine: SimulatedEngine, progress: RequestProgress) => void,
  ): SimulatedEngine {
    const events =
      typeof this.#information === 'string'
        ? null
        : new EventView(this.#information, this.#scheduler, this.#random)
    const model = new EngineModel(
      { ...member.profile, blockTokens: this.#blockTokens },
      {
        decodeStepsMax,
        ...(events === null
          ? {}
          : { gpuListener: events.gpuListener, hostListener: events.hostListener }),
      },
    )
    const engine: SimulatedEngine = {
      member,
      model,
      loop: new EngineLoop(model, this.#scheduler, (progress) => onProgress(engine, progress)),
      cache: events ?? trueView(model),
      instanceId: `process ${this.all.length}`,
      alive: true,
    }
    this.all.push(engine)
    this.#current.set(member.endpoint, engine)
    return engine
  }

  /** The process dies, and what runs on it never goes on. */
  stop(engine: SimulatedEngine): void {
    engine.alive = false
    engine.loop.stop()
  }
}

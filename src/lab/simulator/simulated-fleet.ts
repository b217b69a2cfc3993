/** Engines in virtual time, and what the router is told of them. */
import type { Scheduler } from '../../base/scheduler.ts'
import type { EndpointKey, RouterEvent } from '../../core/events.ts'
import type { EndpointDescription } from '../../core/fleet/endpoint.ts'
import { EngineLoop } from '../engine/engine-loop.ts'
import { EngineModel } from '../engine/engine-model.ts'
import type { RequestProgress } from '../engine/engine-report.ts'
import type { EngineProfile } from '../engine/profile.ts'
import { blockTokens } from '../workload/session.ts'

/** Decode steps that may be one event: the more, the faster, and progress is seen later. */
const decodeStepsMax = 64

export interface FleetMember {
  readonly endpoint: EndpointKey
  /** Its blocks become the workload's, or most of what is shared would not be found. */
  readonly profile: EngineProfile
  /** What the engine says of itself where that is not the truth. */
  readonly told?: EndpointDescription
}

export interface SimulatedEngine {
  readonly endpoint: EndpointKey
  readonly model: EngineModel
  readonly loop: EngineLoop
}

/** Members alike, by number. */
export function replicas(profile: EngineProfile, count: number): FleetMember[] {
  return Array.from({ length: count }, (_, i) => ({ endpoint: `http://engine-${i}`, profile }))
}

export class SimulatedFleet {
  readonly engines = new Map<EndpointKey, SimulatedEngine>()
  readonly #scheduler: Scheduler

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  start(member: FleetMember, onProgress: (progress: RequestProgress) => void): void {
    const { endpoint, profile } = member
    const model = new EngineModel({ ...profile, blockTokens }, { decodeStepsMax })
    const loop = new EngineLoop(model, this.#scheduler, onProgress)
    this.engines.set(endpoint, { endpoint, model, loop })
  }
}

/** What discovery and the first scrape tell of a simulated endpoint. */
export function joiningEvents(member: FleetMember, atMs: number): RouterEvent[] {
  const { endpoint, profile, told } = member
  return [
    {
      type: 'endpoint-joined',
      atMs,
      endpoint,
      description: {
        engine: 'vllm',
        models: [{ id: profile.model, parent: null, maxModelLen: profile.contextTokensMax }],
        kvCapacityTokens: profile.kvTokens,
        hostCapacityTokens: profile.hostTokens,
        runningMax: profile.runningMax,
        batchTokensMax: profile.batchTokensMax,
        pricePerHour: profile.pricePerHour,
        ...told,
      },
    },
    { type: 'endpoint-probed', atMs, endpoint, healthy: true, reason: '' },
  ]
}

/** Engines in virtual time, and what the router is told of them. */
import type { Scheduler } from '../../base/scheduler.ts'
import type { EndpointKey, RouterEvent } from '../../core/events.ts'
import type { EndpointDescription } from '../../core/fleet/endpoint.ts'
import { EngineLoop } from '../engine/engine-loop.ts'
import { EngineModel } from '../engine/engine-model.ts'
import type { RequestProgress } from '../engine/engine-report.ts'
import type { EngineProfile } from '../engine/profile.ts'

/** Decode steps that may be one event: the more, the faster, and progress is seen later. */
const decodeStepsMax = 64

export interface FleetMember {
  readonly endpoint: EndpointKey
  readonly profile: EngineProfile
  /** What the engine says of itself where that is not the truth. */
  readonly told?: EndpointDescription
}

export interface SimulatedEngine {
  readonly endpoint: EndpointKey
  readonly model: EngineModel
  readonly loop: EngineLoop
}

export function simulatedFleet(
  members: readonly FleetMember[],
  scheduler: Scheduler,
  onProgress: (endpoint: EndpointKey, progress: RequestProgress) => void,
): Map<EndpointKey, SimulatedEngine> {
  const engines = new Map<EndpointKey, SimulatedEngine>()
  for (const { endpoint, profile } of members) {
    const model = new EngineModel(profile, { decodeStepsMax })
    const report = (progress: RequestProgress): void => onProgress(endpoint, progress)
    engines.set(endpoint, { endpoint, model, loop: new EngineLoop(model, scheduler, report) })
  }
  return engines
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

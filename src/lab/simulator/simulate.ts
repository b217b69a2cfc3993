import { seededRandom } from '../../base/random.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { ApproximateIndex } from '../../core/prefix/approximate-index.ts'
import type { PrefixIndex } from '../../core/prefix/prefix-index.ts'
import { Router } from '../../core/router.ts'
import type { EngineModel } from '../engine/engine-model.ts'
import type { Workload } from '../workload/session.ts'
import { type FleetMember, SimulatedFleet } from './simulated-fleet.ts'
import { TrueIndex } from './true-index.ts'
import { VirtualTime } from './virtual-time.ts'
import { World, type WorldOptions, type WorldResult } from './world.ts'

/**
 * What the router knows of the engines' caches: all at once, or what its own routing tells it, as
 * in production where engines send no events.
 */
export type Information = 'perfect' | 'approximate'

export interface Simulation {
  readonly workload: Workload
  /** A new one for each run: policies keep state. */
  readonly policy: () => Policy
  readonly members: readonly FleetMember[]
  /** Breaks ties in the router; the workload has its own. */
  readonly seed: number
  /** `perfect` when left out: the same for every policy that is compared. */
  readonly information?: Information
  /** Between two scrapes of an engine; null is never. A second when left out. */
  readonly scrapeIntervalMs?: number | null
  /** Ends the run early, with what is in flight unfinished; null or left out runs to the end. */
  readonly untilMs?: number | null
  readonly onDecision?: WorldOptions['onDecision']
}

/** One workload on a fleet, under one policy. */
export function simulate(simulation: Simulation): WorldResult {
  return simulatedWorld(simulation).world.run()
}

/** The same, not yet run: to look into the router, and to do something at a time of the world. */
export function simulatedWorld(simulation: Simulation): { world: World; router: Router } {
  const { workload, policy, members, seed, onDecision } = simulation
  const time = new VirtualTime()
  const fleet = new SimulatedFleet(time)
  const engineOf = (slot: number): EngineModel | undefined => {
    for (const { key, slot: its } of router.fleet.values()) {
      if (its === slot) return fleet.engines.get(key)?.model
    }
    return undefined
  }
  const router: Router = new Router({
    policy: policy(),
    index: indexOf(simulation.information ?? 'perfect', engineOf),
    random: seededRandom(seed),
    unknownModels: 'reject',
  })
  const world = new World({
    time,
    fleet,
    members,
    router,
    workload,
    scrapeIntervalMs:
      simulation.scrapeIntervalMs === undefined ? 1_000 : simulation.scrapeIntervalMs,
    untilMs: simulation.untilMs ?? null,
    ...(onDecision === undefined ? {} : { onDecision }),
  })
  return { world, router }
}

function indexOf(
  information: Information,
  engineOf: (slot: number) => EngineModel | undefined,
): PrefixIndex {
  return information === 'perfect' ? new TrueIndex(engineOf) : new ApproximateIndex()
}

import { seededRandom } from '../../base/random.ts'
import type { AdmissionFactory } from '../../core/admission/admission.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { ApproximateIndex } from '../../core/prefix/approximate-index.ts'
import { Router } from '../../core/router.ts'
import { blockTokens, type Workload } from '../workload/session.ts'
import type { CacheView } from './cache-view.ts'
import type { FleetChange } from './fleet-change.ts'
import type { Information } from './information.ts'
import { type FleetMember, SimulatedFleet } from './simulated-fleet.ts'
import { ViewedIndex } from './viewed-index.ts'
import { VirtualTime } from './virtual-time.ts'
import { World, type WorldOptions, type WorldResult } from './world.ts'

export interface Simulation {
  readonly workload: Workload
  /** A new one for each run: policies keep state. */
  readonly policy: () => Policy
  /** Who may start and who must wait at the router; left out, nobody waits. */
  readonly admission?: AdmissionFactory
  /** The longest that a request waits there before it is refused; left out, without end. */
  readonly holdMsMax?: number
  /** Clients name their session in a header; left out, what they send must tell. */
  readonly sessionKeys?: boolean
  readonly members: readonly FleetMember[]
  /** Breaks ties in the router, and loses events; the workload has its own. */
  readonly seed: number
  /** `perfect` when left out: the same for every policy that is compared. */
  readonly information?: Information
  /** Between two scrapes of an engine; null is never. A second when left out. */
  readonly scrapeIntervalMs?: number | null
  /** Age of a scrape when the router gets it; none when left out. */
  readonly scrapeAgeMs?: number
  readonly changes?: readonly FleetChange[]
  /** Time between two samples of the fleet's state; left out, none is kept. */
  readonly timelineMs?: number
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
  const { workload, policy, admission, members, seed, scrapeIntervalMs, onDecision } = simulation
  const { holdMsMax = Number.POSITIVE_INFINITY } = simulation
  const information = simulation.information ?? 'perfect'
  const time = new VirtualTime()
  const fleet = new SimulatedFleet(time, information, seed, workload.blockTokens ?? blockTokens)
  const newRouter = (): Router => {
    const router: Router = new Router({
      policy: policy(),
      index:
        information === 'approximate'
          ? new ApproximateIndex()
          : new ViewedIndex((slot) => cacheOf(slot, router, fleet)),
      random: seededRandom(seed),
      unknownModels: 'reject',
      admission: admission === undefined ? null : { make: admission, holdMsMax },
    })
    return router
  }
  const world = new World({
    time,
    fleet,
    members,
    newRouter,
    workload,
    sessionKeys: simulation.sessionKeys ?? false,
    changes: simulation.changes ?? [],
    scrapeIntervalMs: scrapeIntervalMs === undefined ? 1_000 : scrapeIntervalMs,
    scrapeAgeMs: simulation.scrapeAgeMs ?? 0,
    timelineMs: simulation.timelineMs ?? null,
    untilMs: simulation.untilMs ?? null,
    ...(onDecision === undefined ? {} : { onDecision }),
  })
  return { world, router: world.router }
}

/** The cache of the engine at the endpoint whose instance has the slot. */
function cacheOf(slot: number, router: Router, fleet: SimulatedFleet): CacheView {
  const endpoint = [...router.fleet.values()].find((one) => one.slot === slot)
  const engine = fleet.get(endpoint?.key ?? '')
  if (engine === undefined) throw new RangeError(`no engine has the slot ${slot}`)
  return engine.cache
}

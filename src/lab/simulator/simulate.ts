import { seededRandom } from '../../base/random.ts'
import { type PolicyName, policies } from '../../core/policy/registry.ts'
import { ApproximateIndex } from '../../core/prefix/approximate-index.ts'
import { Router } from '../../core/router.ts'
import type { EngineProfile } from '../engine/profile.ts'
import type { Workload } from '../workload/session.ts'
import { World, type WorldOptions, type WorldResult } from './world.ts'

export interface Simulation {
  readonly workload: Workload
  readonly policy: PolicyName
  /** Its blocks must be the workload's, or most of what is shared is not found. */
  readonly profile: EngineProfile
  readonly replicas: number
  readonly seed: number
  readonly onDecision?: WorldOptions['onDecision']
}

/** Between two scrapes of an engine, as a gateway would make them. */
const scrapeIntervalMs = 1_000

/** One workload on replicas alike, under one policy, to its end. */
export function simulate(simulation: Simulation): WorldResult {
  const { workload, policy, profile, replicas, seed, onDecision } = simulation
  const members = Array.from({ length: replicas }, (_, i) => ({
    endpoint: `http://engine-${i}`,
    profile,
  }))
  const router = new Router({
    policy: policies[policy](),
    index: new ApproximateIndex(),
    random: seededRandom(seed),
    unknownModels: 'reject',
  })
  const told = onDecision === undefined ? {} : { onDecision }
  return new World({ members, router, workload, scrapeIntervalMs, ...told }).run()
}

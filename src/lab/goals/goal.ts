/** What a goal is: traffic on a fleet, and figures that the router must reach there. */
import type { Metric } from '../measure/compare.ts'
import type { Axis } from '../report/plot-spec.ts'
import type { SimulationJob } from '../runner/simulation-job.ts'

/** Whom a figure is held against, on the same seeds. */
export type Against =
  /** The peer that the goal's `rank` puts first at the point. */
  | { readonly peer: 'best' }
  /** An arm as it comes. */
  | { readonly defaults: string }
  /** An arm in its best variant at the point. */
  | { readonly tuned: string }
  /** The best of some, or of all but those: as `armsOf` calls them. */
  | { readonly bestOf: readonly string[] }
  | { readonly bestBut: readonly string[] }
  /** The router itself, at another point. */
  | { readonly point: string }

export interface Bounds {
  readonly atLeast?: number
  readonly atMost?: number
}

/** A number that a figure must meet. */
export interface Claim extends Bounds {
  readonly metric: Metric
  /** Names of the points where it must hold; at each of the goal when left out. */
  readonly points?: readonly string[]
  /** Judged once, by the mean over all points; not in a quick run, which leaves some out. */
  readonly across?: true
  /** What is judged is the ratio to that arm's figure; left out, the figure itself. */
  readonly against?: Against
}

export interface GoalPoint {
  readonly name: string
  /** Where it lies on the goal's axis. */
  readonly x?: number
  /** Name and options, as `workloadOf` takes them; or `recorded,…` of the recording. */
  readonly workload: string
  /** A file in the folder of recordings, without which the point is left out. */
  readonly recording?: string
  /** As `fleetOf` takes it. */
  readonly fleet: string
  /** What else is special about the runs. */
  readonly more?: Omit<Partial<SimulationJob>, 'workload' | 'arm' | 'variant' | 'members' | 'seed'>
  /** Left out of a quick run. */
  readonly fullOnly?: true
}

export interface Goal {
  /** `G3` */
  readonly name: string
  readonly title: string
  /** The field's arms are put in order by this at each point. */
  readonly rank: Metric
  /** Whom it runs against: every arm in every variant when left out. */
  readonly field?: 'defaults' | readonly string[]
  readonly points: readonly GoalPoint[]
  /** What the points are drawn over, where they are a sweep. */
  readonly axis?: Axis
  readonly claims: readonly Claim[]
}

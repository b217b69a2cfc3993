/** Arms by seeds, on all cores. */
import type { ArmChoice } from './arm-spec.ts'
import { type JobsOptions, runJobs } from './run-jobs.ts'
import type { JobResult, SimulationJob } from './simulation-job.ts'

export interface ArmsPlan {
  readonly arms: readonly ArmChoice[]
  /** The same for each arm, so that what differs is the arm. */
  readonly seeds: readonly number[]
  readonly common: Omit<SimulationJob, 'arm' | 'variant' | 'seed'>
}

/** One arm's results, one a seed. */
export interface ArmResults {
  readonly name: string
  readonly choice: ArmChoice
  readonly runs: readonly JobResult[]
}

/** @throws Error that names the job that failed */
export async function runArms(
  { arms, seeds, common }: ArmsPlan,
  options: JobsOptions = {},
): Promise<ArmResults[]> {
  const jobs = arms.flatMap(({ arm, variant }) =>
    seeds.map((seed) => ({ ...common, arm: arm.name, variant: variant.label, seed })),
  )
  const results = await runJobs(jobs, options)
  return arms.map((choice, i) => ({
    name: choice.title,
    choice,
    runs: results.slice(i * seeds.length, (i + 1) * seeds.length),
  }))
}

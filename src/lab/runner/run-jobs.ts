/** Simulations on all cores. */
import { JobFailure, runInWorkers } from '../../io/worker-pool.ts'
import { type JobResult, jobTitle, type SimulationJob } from './simulation-job.ts'

export interface JobsOptions {
  /** As many as there are cores when left out. */
  readonly threads?: number
  /** Told after each job how many of them are done. */
  readonly onDone?: (done: number, of: number) => void
}

/**
 * The results in the order of the jobs: each depends on its job alone, not on what ran beside it.
 * @throws Error that names the job that failed
 */
export async function runJobs(
  jobs: readonly SimulationJob[],
  { threads, onDone }: JobsOptions = {},
): Promise<JobResult[]> {
  let done = 0
  try {
    return await runInWorkers<SimulationJob, JobResult>({
      worker: new URL('./job-worker.ts', import.meta.url),
      jobs,
      ...(threads === undefined ? {} : { threads }),
      onDone: () => onDone?.(++done, jobs.length),
    })
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error
    const title = jobTitle(jobs[error.index]!)
    throw new Error(`${title}: ${error.message}`, { cause: error.cause })
  }
}

/** Runs in a thread of `runJobs`. */
import { serveJobs } from '../../io/serve-jobs.ts'
import { runSimulationJob } from './simulation-job.ts'

serveJobs(runSimulationJob)

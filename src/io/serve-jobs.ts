import { parentPort } from 'node:worker_threads'
import type { WorkerAnswer } from './worker-pool.ts'

/** The worker's side of `runInWorkers`: does each job that comes, and answers with its result. */
export function serveJobs<Job, Result>(run: (job: Job) => Result): void {
  const port = parentPort
  if (port === null) throw new Error('jobs are served in a worker thread only')
  port.on('message', (job: Job) => port.postMessage(answer(() => run(job))))
}

function answer<Result>(run: () => Result): WorkerAnswer<Result> {
  try {
    return { ok: true, result: run() }
  } catch (error) {
    return { ok: false, error }
  }
}

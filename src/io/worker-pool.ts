/** Jobs on several threads. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/** One job in a list went wrong; `cause` is what its worker threw. */
export class JobFailure extends Error {
  override readonly name = 'JobFailure'
  readonly index: number

  constructor(index: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.index = index
  }
}

export interface WorkerJobs<Job, Result> {
  /** A module that calls `serveJobs`. */
  readonly worker: URL
  /** Plain data: they are copied. */
  readonly jobs: readonly Job[]
  /** As many as there are cores when left out. */
  readonly threads?: number
  readonly onDone?: (result: Result, index: number) => void
}

export type WorkerAnswer<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly error: unknown }

/**
 * The results in the order of the jobs, whichever thread ran them. The first failure ends all of
 * them and rejects with a JobFailure.
 */
export async function runInWorkers<Job, Result>(
  options: WorkerJobs<Job, Result>,
): Promise<Result[]> {
  const { worker, jobs, onDone } = options
  const results = new Array<Result>(jobs.length)
  const threads = Math.min(options.threads ?? availableParallelism(), jobs.length)
  const workers = Array.from({ length: threads }, () => new Worker(worker))
  let next = 0
  try {
    await Promise.all(
      workers.map(async (thread) => {
        while (next < jobs.length) {
          const index = next++
          const result = await answerOf<Result>(thread, jobs[index], index)
          results[index] = result
          onDone?.(result, index)
        }
      }),
    )
  } finally {
    await Promise.all(workers.map((thread) => thread.terminate()))
  }
  return results
}

function answerOf<Result>(thread: Worker, job: unknown, index: number): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const onMessage = (answer: WorkerAnswer<Result>): void => {
    if (answer.ok) resolve(answer.result)
    else reject(new JobFailure(index, answer.error))
  }
  const onError = (error: unknown): void => reject(new JobFailure(index, error))
  const onExit = (code: number): void => {
    reject(new JobFailure(index, new Error(`its thread ended with code ${code}`)))
  }
  thread.once('message', onMessage).once('error', onError).once('exit', onExit)
  thread.postMessage(job)
  return promise.finally(() => {
    thread.off('message', onMessage).off('error', onError).off('exit', onExit)
  })
}

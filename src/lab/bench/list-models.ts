import type { Scheduler } from '../../base/scheduler.ts'
import type { ServedModel } from '../../core/fleet/endpoint.ts'
import { fetchText } from '../../io/http1/fetch-text.ts'
import { UpstreamPool } from '../../io/http1/upstream-pool.ts'
import { readModelsList } from '../../protocol/models-list.ts'
import { authorized, type TargetOptions } from './bench-target.ts'
import { splitUrl } from './bench-target-url.ts'

export interface ListedModels {
  readonly status: number
  /** Null where the answer is no list. */
  readonly models: readonly ServedModel[] | null
}

/**
 * The models that a server lists.
 * @throws FetchFailed when it does not answer
 */
export async function listModels(
  url: string,
  options: Pick<TargetOptions, 'apiKey' | 'headers'>,
  scheduler: Scheduler,
): Promise<ListedModels> {
  const { origin, base } = splitUrl(url)
  const pool = new UpstreamPool(origin, {}, scheduler)
  try {
    const request = { headers: authorized(options), timeoutMs: 10_000, bytesMax: 16_777_216 }
    const answer = await fetchText(pool, `${base}/models`, request, scheduler)
    const { status, text } = answer
    return { status, models: status === 200 ? (readModelsList(text)?.models ?? null) : null }
  } finally {
    pool.close()
  }
}

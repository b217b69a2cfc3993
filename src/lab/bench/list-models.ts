import type { Scheduler } from '../../base/scheduler.ts'
import type { ServedModel } from '../../core/fleet/endpoint.ts'
import { fetchText } from '../../io/http1/fetch-text.ts'
import { UpstreamPool } from '../../io/http1/upstream-pool.ts'
import { readModelsList } from '../../protocol/models-list.ts'
import { authorized, type TargetOptions } from './bench-target.ts'
import { splitUrl } from './bench-target-url.ts'

/**
 * The models that a server lists; null when it answers something else.
 * @throws FetchFailed when it does not answer
 */
export async function listModels(
  url: string,
  options: Pick<TargetOptions, 'apiKey' | 'headers'>,
  scheduler: Scheduler,
): Promise<readonly ServedModel[] | null> {
  const { origin, base } = splitUrl(url)
  const pool = new UpstreamPool(origin, {}, scheduler)
  try {
    const request = { headers: authorized(options), timeoutMs: 10_000, bytesMax: 16_777_216 }
    const answer = await fetchText(pool, `${base}/models`, request, scheduler)
    return answer.status === 200 ? (readModelsList(answer.text)?.models ?? null) : null
  } finally {
    pool.close()
  }
}

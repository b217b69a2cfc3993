import type { EndpointSpec } from '../config/endpoint-spec.ts'
import { UpstreamPool } from '../io/http1/upstream-pool.ts'
import { realTimeScheduler } from '../io/real-time.ts'
import { wallTime } from '../io/wall-time.ts'
import { apiKeyOf, declaredBy } from './declared-endpoint.ts'
import { engineFetch } from './engine-fetch.ts'
import { type EngineLook, lookAtEngine } from './look-at-engine.ts'

export interface EndpointProbe extends EngineLook {
  /** When its metrics were read, ISO 8601; null when they could not be. */
  readonly scrapedAt: string | null
}

/** One look at an endpoint over a connection of its own; never rejects. */
export async function probeEndpoint(spec: EndpointSpec): Promise<EndpointProbe> {
  const scheduler = realTimeScheduler()
  const pool = new UpstreamPool(spec.url, {}, scheduler)
  try {
    const fetch = engineFetch(pool, scheduler)
    const apiKey = apiKeyOf(spec, process.env)
    const look = await lookAtEngine(fetch, apiKey, declaredBy(spec), scheduler)
    return { ...look, scrapedAt: look.signals === null ? null : wallTime() }
  } finally {
    pool.close()
  }
}

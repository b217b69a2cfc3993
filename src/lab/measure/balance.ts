import type { SimulatedRequest } from '../simulator/request-record.ts'
import { sumOf } from './spread.ts'

const windowMs = 10_000

/** Work per endpoint: 1 where all have the same, the number of endpoints where one has it all. */
export interface Balance {
  /** Most uncached prompt tokens of an endpoint over the mean, for the whole run. */
  readonly wholeRun: number | null
  /** The same within 10 s, the windows weighted by their work. */
  readonly tenSeconds: number | null
}

/** @param endpoints how many there were, those without work included */
export function balanceOf(requests: readonly SimulatedRequest[], endpoints: number): Balance {
  const begun = requests.filter(({ firstTokenMs }) => firstTokenMs !== null)
  return {
    wholeRun: maxOverMean(begun, endpoints, () => 0),
    tenSeconds: maxOverMean(begun, endpoints, ({ dispatchedMs }) =>
      Math.floor(dispatchedMs! / windowMs),
    ),
  }
}

function maxOverMean(
  requests: readonly SimulatedRequest[],
  endpoints: number,
  windowOf: (request: SimulatedRequest) => number,
): number | null {
  const windows = new Map<number, Map<string, number>>()
  for (const request of requests) {
    const key = windowOf(request)
    const work = windows.get(key) ?? new Map<string, number>()
    windows.set(key, work)
    const uncached = request.promptTokens - request.cachedTokens
    const endpoint = request.endpoint!
    work.set(endpoint, (work.get(endpoint) ?? 0) + uncached)
  }
  const works = [...windows.values()]
  const most = sumOf(works.map((work) => Math.max(...work.values())))
  const mean = sumOf(works.map((work) => sumOf(work.values()) / endpoints))
  return mean > 0 ? most / mean : null
}

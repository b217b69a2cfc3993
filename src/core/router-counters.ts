/** What the core did that an operator should know of; each only grows. */
export interface RouterCounters {
  /** Dispatched to a softly unavailable endpoint, because no other was left. */
  lastResort: number
  /** Endpoints whose believed cache contents were dropped after repeated misses. */
  cacheEmptied: number
  /** Times that the predictions for an endpoint were found too wrong to be relied on. */
  predictionDistrusted: number
  /** Reservations of abandoned work that ran into their bound without a sign of the engine. */
  lingerExpired: number
  /** Endpoints taken out of choice because requests failed there. */
  ejections: number
  /** New processes found at an old address. */
  restarts: number
  /** Requests that had to wait at the router. */
  held: number
  /** Held requests that were refused when their time was up. */
  holdsExpired: number
}

export function noCounters(): RouterCounters {
  return {
    lastResort: 0,
    cacheEmptied: 0,
    predictionDistrusted: 0,
    lingerExpired: 0,
    ejections: 0,
    restarts: 0,
    held: 0,
    holdsExpired: 0,
  }
}

/** A router's status with nothing in it, for tests that look at one part. */
import { noCounters } from '../../src/core/router-counters.ts'
import type { EndpointStatus, RouterStatus } from '../../src/observe/status.ts'

export function emptyStatus(changes: Partial<RouterStatus> = {}): RouterStatus {
  return {
    version: '0.0.0',
    policy: 'warmpath',
    uptimeMs: 0,
    ready: false,
    draining: false,
    config: { reloads: { applied: 0, refused: 0 }, problem: null, needRestart: [] },
    openRequests: 0,
    heldRequests: 0,
    held: [],
    admission: null,
    sessions: 0,
    indexEntries: 0,
    openConnections: { client: 0, upstream: 0 },
    counters: noCounters(),
    fallbacks: {},
    droppedLines: { log: 0, decisions: 0 },
    models: [],
    endpoints: [],
    ...changes,
  }
}

export function endpointSample(changes: Partial<EndpointStatus> = {}): EndpointStatus {
  return {
    url: 'http://e0',
    models: ['m'],
    routable: true,
    reason: 'ready',
    inFlight: 0,
    queued: 0,
    queuedTokens: 0,
    contextTokens: 0,
    cachedTokens: 0,
    kvCapacityTokens: null,
    engine: 'unknown',
    version: null,
    instanceId: null,
    signals: null,
    scrapeAgeMs: null,
    rates: {},
    predictionError: { ttftRelative: null, ratesTrusted: true, cachedShare: null },
    ...changes,
  }
}

/** Builds a gateway from its configuration: the only place that knows all of its parts. */
import { randomBytes } from 'node:crypto'
import { seededRandom } from '../../base/random.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import type { Config } from '../../config/config.ts'
import type { EndpointKey } from '../../core/events.ts'
import { policies } from '../../core/policy/registry.ts'
import { ApproximateIndex } from '../../core/prefix/approximate-index.ts'
import { Router } from '../../core/router.ts'
import { UpstreamPool } from '../../io/http1/upstream-pool.ts'
import { HttpServer } from '../../io/http1-server/http-server.ts'
import { LineFile } from '../../io/line-file.ts'
import { realTimeScheduler } from '../../io/real-time.ts'
import { wallTime } from '../../io/wall-time.ts'
import { DecisionLog } from '../../observe/decision-log.ts'
import { logLines } from '../../observe/log-lines.ts'
import type { Logger } from '../../observe/logger.ts'
import { Metrics } from '../../observe/metrics.ts'
import { RecentDecisions } from '../../observe/recent-decisions.ts'
import { renderErrorBody } from '../../protocol/error-body.ts'
import { apiKeyOf, declaredBy } from '../../sources/declared-endpoint.ts'
import { EndpointWatcher } from '../../sources/endpoint-watcher.ts'
import { engineFetch } from '../../sources/engine-fetch.ts'
import type { AdminView } from './admin.ts'
import { type EngineLink, Gateway } from './gateway.ts'
import { ResponseOwners } from './response-owners.ts'
import { takeRequest } from './server.ts'
import { version } from './version.ts'

export interface RunningGateway {
  /** As a client on this machine would write it: `http://127.0.0.1:8080`. */
  readonly address: string
  /** Takes no new requests, lets the open ones finish within the limit, then closes. */
  drain(): Promise<void>
  /** Closes at once; open requests are broken. */
  close(): Promise<void>
}

/** Requests that `/debug/decisions/ID` remembers. */
const recentMax = 2_000
/** An idle client connection is kept for so long. */
const keepAliveMs = 75_000
/** Connections beyond the open requests: idle ones, probes, scrapes. */
const spareConnections = 10_000
const decisionLogBytesMax = 256 * 1_048_576
const decisionQueueBytesMax = 8 * 1_048_576

/**
 * Rejects with the system's error where the address cannot be had.
 * @param scheduler another clock than the wall's, faster for instance
 */
export async function startGateway(
  config: Config,
  log: Logger,
  scheduler: Scheduler = realTimeScheduler(),
): Promise<RunningGateway> {
  const random = seededRandom(config.seed)
  const makeRouter = (): Router =>
    new Router({
      policy: policies[config.policy](),
      index: new ApproximateIndex(),
      random,
      unknownModels: config.unknownModels,
    })
  const metrics = new Metrics()
  metrics.collectProcess()
  const links = new Map<EndpointKey, EngineLink>()
  const decisionLog = decisionLogOf(config, log, scheduler)
  const watcher = new EndpointWatcher({
    scheduler,
    // Probes must not disturb the random numbers of decisions.
    random: seededRandom(config.seed + 1),
    emit: (event) => gateway.learned(event),
    logger: log,
    counters: metrics,
    intervals: config,
  })
  const gateway = new Gateway({
    config,
    log,
    metrics,
    recent: new RecentDecisions(recentMax),
    decisionLog,
    scheduler,
    makeRouter,
    links,
    owners: new ResponseOwners(),
    idPrefix: `wp-${randomBytes(5).toString('hex')}`,
    probeSoon: (endpoint) => watcher.probeSoon(endpoint),
  })
  const place: { server: HttpServer | null } = { server: null }
  const view = adminViewOf(gateway, links, () => place.server?.connections ?? 0)
  const server = await HttpServer.listen(
    {
      host: config.host ?? '0.0.0.0',
      port: config.port,
      headBytesMax: config.maxHeaderBytes,
      headTimeoutMs: config.headersTimeoutMs,
      bodyTimeoutMs: config.bodyTimeoutMs,
      keepAliveMs,
      stalledMs: config.streamIdleTimeoutMs,
      connectionsMax: config.maxOpenRequests + spareConnections,
      onRequest: (served) => takeRequest(gateway, view, served),
      errorBody: (code, message) => {
        metrics.refused(code)
        return renderErrorBody('other', code, message, null)
      },
    },
    scheduler,
  )
  place.server = server
  joinEndpoints(config, gateway, links, watcher)
  log.log(logLines.listening(server.address, config.endpoints.length, config.policy))
  return running(gateway, server, watcher, links)
}

/** What the pages for operators are made of: always as it is when they are asked for. */
function adminViewOf(
  gateway: Gateway,
  links: ReadonlyMap<EndpointKey, EngineLink>,
  clientConnections: () => number,
): AdminView {
  const { metrics, recent, config, scheduler, log, decisionLog } = gateway.parts
  return {
    metrics,
    recent,
    config,
    version,
    startedAtMs: scheduler.nowMs(),
    nowMs: () => scheduler.nowMs(),
    get router() {
      return gateway.router
    },
    get draining() {
      return gateway.draining
    },
    get openRequests() {
      return gateway.openRequests
    },
    get openConnections() {
      return clientConnections()
    },
    get upstreamConnections() {
      let open = 0
      for (const { pool } of links.values()) open += pool.stats.open
      return open
    },
    get droppedLines() {
      return { log: log.droppedLines, decisions: decisionLog?.droppedLines ?? 0 }
    },
  }
}

function joinEndpoints(
  config: Config,
  gateway: Gateway,
  links: Map<EndpointKey, EngineLink>,
  watcher: EndpointWatcher,
): void {
  const { scheduler, metrics, decisionLog } = gateway.parts
  for (const spec of config.endpoints) {
    const { connectTimeoutMs, upstreamIdleMs } = config
    const pool = new UpstreamPool(
      spec.url,
      { connectTimeoutMs, idleSocketMs: upstreamIdleMs },
      scheduler,
    )
    const apiKey = apiKeyOf(spec, process.env)
    const declared = declaredBy(spec)
    links.set(spec.url, { pool, apiKey })
    metrics.endpointJoined(spec.url)
    const event = {
      type: 'endpoint-joined',
      atMs: gateway.nowMs(),
      endpoint: spec.url,
      description: declared,
    } as const
    gateway.tell(event)
    decisionLog?.endpoint(event)
    watcher.add({ endpoint: spec.url, fetch: engineFetch(pool, scheduler), apiKey, declared })
  }
}

function decisionLogOf(config: Config, log: Logger, scheduler: Scheduler): DecisionLog | null {
  if (config.decisionLog === null) return null
  const sink = new LineFile({
    path: config.decisionLog,
    queueBytesMax: decisionQueueBytesMax,
    onError: (error) => log.log(logLines.decisionLogFailed(error.message)),
  })
  return new DecisionLog(sink, scheduler, {
    policy: config.policy,
    routerVersion: version,
    chains: true,
    fileBytesMax: decisionLogBytesMax,
    wallTime,
  })
}

function running(
  gateway: Gateway,
  server: HttpServer,
  watcher: EndpointWatcher,
  links: ReadonlyMap<EndpointKey, EngineLink>,
): RunningGateway {
  const { log, config, scheduler } = gateway.parts
  const close = async (): Promise<void> => {
    gateway.draining = true
    gateway.breakAll()
    watcher.stop()
    gateway.stop()
    await server.destroy()
    for (const { pool } of links.values()) pool.close()
  }
  const drain = async (): Promise<void> => {
    gateway.draining = true
    log.log(logLines.draining(gateway.openRequests))
    server.stopListening()
    const limit = Promise.withResolvers<void>()
    const cancelLimit = scheduler.at(scheduler.nowMs() + config.drainTimeoutMs, limit.resolve)
    await Promise.race([gateway.idle(), limit.promise])
    // The last answers may still be on their way.
    await Promise.race([server.allClosed(), limit.promise])
    cancelLimit()
    const left = gateway.openRequests
    await close()
    log.log(logLines.drained(left))
  }
  return { address: server.address, drain, close }
}

/** Builds a gateway from its configuration: the only place that knows all of its parts. */
import { randomBytes } from 'node:crypto'
import { seededRandom } from '../../base/random.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import type { Config } from '../../config/config.ts'
import type { LoadedConfig } from '../../config/load-config.ts'
import { renderProblems } from '../../config/problem.ts'
import { admissions } from '../../core/admission/registry.ts'
import type { EndpointKey } from '../../core/events.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { policies } from '../../core/policy/registry.ts'
import { ApproximateIndex } from '../../core/prefix/approximate-index.ts'
import { Router, type RouterOptions } from '../../core/router.ts'
import { HttpServer } from '../../io/http1-server/http-server.ts'
import type { ServerOptions } from '../../io/http1-server/served.ts'
import { LineFile } from '../../io/line-file.ts'
import { realTimeScheduler } from '../../io/real-time.ts'
import { wallTime } from '../../io/wall-time.ts'
import { DecisionLog } from '../../observe/decision-log.ts'
import { logLines } from '../../observe/log-lines.ts'
import type { Logger } from '../../observe/logger.ts'
import { Metrics } from '../../observe/metrics.ts'
import { RecentDecisions } from '../../observe/recent-decisions.ts'
import { renderErrorBody } from '../../protocol/error-body.ts'
import { EndpointWatcher } from '../../sources/endpoint-watcher.ts'
import type { AdminView } from './admin.ts'
import { EngineFleet } from './engine-fleet.ts'
import { type EngineLink, Gateway } from './gateway.ts'
import { LiveConfig } from './live-config.ts'
import { ResponseOwners } from './response-owners.ts'
import { takeRequest } from './server.ts'
import { version } from './version.ts'

export interface RunningGateway {
  /** As a client on this machine would write it: `http://127.0.0.1:8080`. */
  readonly address: string
  /** The configuration was read again: takes it over, or keeps the old one where it is wrong. */
  reload(loaded: LoadedConfig): void
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
 * @param policy another one than those that can be configured, to compare with
 */
export async function startGateway(
  atStart: Config,
  log: Logger,
  scheduler: Scheduler = realTimeScheduler(),
  policy: () => Policy = policies[atStart.policy],
): Promise<RunningGateway> {
  const live = new LiveConfig(atStart)
  const { config } = live
  const random = seededRandom(config.seed)
  const makeRouter = (): Router =>
    new Router({
      policy: policy(),
      index: new ApproximateIndex(),
      random,
      admission: admissionOf(config),
      get unknownModels() {
        return config.unknownModels
      },
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
  const view = adminViewOf(gateway, live, () => place.server?.connections ?? 0)
  const server = await HttpServer.listen(serverOptions(gateway, view), scheduler)
  place.server = server
  const fleet = new EngineFleet(gateway, links, watcher)
  fleet.become(config.endpoints)
  log.log(logLines.listening(server.address, config.endpoints.length, config.policy))
  return running(gateway, server, fleet, live)
}

/** Comparisons with other policies are without it, unless it is asked for. */
function admissionOf({
  admission,
  policy,
  holdMaxMs,
}: Config): NonNullable<RouterOptions['admission']> | null {
  const wanted = admission === 'auto' ? policy === 'warmpath' : admission === 'working-set'
  return wanted ? { make: admissions['working-set'], holdMsMax: holdMaxMs } : null
}

/** Limits are read at each use: those in force count. */
function serverOptions(gateway: Gateway, view: AdminView): ServerOptions {
  const { config, metrics } = gateway.parts
  return {
    host: config.host ?? '0.0.0.0',
    port: config.port,
    get headBytesMax() {
      return config.maxHeaderBytes
    },
    get headTimeoutMs() {
      return config.headersTimeoutMs
    },
    get bodyTimeoutMs() {
      return config.bodyTimeoutMs
    },
    keepAliveMs,
    get stalledMs() {
      return config.streamIdleTimeoutMs
    },
    connectionsMax: config.maxOpenRequests + spareConnections,
    onRequest: (served) => takeRequest(gateway, view, served),
    errorBody: (code, message) => {
      metrics.refused(code)
      return renderErrorBody('other', code, message, null)
    },
  }
}

/** What the pages for operators are made of: always as it is when they are asked for. */
function adminViewOf(
  gateway: Gateway,
  live: LiveConfig,
  clientConnections: () => number,
): AdminView {
  const { metrics, recent, config, scheduler, log, decisionLog, links } = gateway.parts
  return {
    metrics,
    recent,
    config,
    version,
    startedAtMs: scheduler.nowMs(),
    nowMs: () => scheduler.nowMs(),
    get configStatus() {
      return live.status
    },
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
  fleet: EngineFleet,
  live: LiveConfig,
): RunningGateway {
  const { log, config, scheduler } = gateway.parts
  const close = async (): Promise<void> => {
    gateway.draining = true
    gateway.breakAll()
    fleet.stop()
    gateway.stop()
    await server.destroy()
    fleet.disconnect()
  }
  const drain = async (): Promise<void> => {
    gateway.draining = true
    log.log(logLines.draining(gateway.openRequests))
    gateway.refuseHeld()
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
  const reload = (loaded: LoadedConfig): void => {
    if (!loaded.ok) {
      const problem = renderProblems(loaded.problems)
      live.refuse(problem)
      log.log(logLines.configRejected(problem))
      return
    }
    const { changed, needRestart } = live.take(loaded.config)
    server.connectionsMax = config.maxOpenRequests + spareConnections
    log.log(logLines.configReloaded(fleet.become(config.endpoints), changed, needRestart))
  }
  return { address: server.address, reload, drain, close }
}

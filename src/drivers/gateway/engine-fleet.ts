/** The engines of the configuration: how each is reached and watched, and who comes and goes. */
import { isDeepStrictEqual } from 'node:util'
import type { EndpointSpec } from '../../config/endpoint-spec.ts'
import type { EndpointKey } from '../../core/events.ts'
import type { EndpointDescription } from '../../core/fleet/endpoint.ts'
import { UpstreamPool } from '../../io/http1/upstream-pool.ts'
import { logLines } from '../../observe/log-lines.ts'
import { apiKeyOf, declaredBy } from '../../sources/declared-endpoint.ts'
import type { EndpointWatcher } from '../../sources/endpoint-watcher.ts'
import { engineFetch } from '../../sources/engine-fetch.ts'
import type { EngineLink, Gateway } from './gateway.ts'

export interface FleetChanges {
  readonly added: number
  readonly removed: number
  /** Declared otherwise than before. */
  readonly changed: number
}

export class EngineFleet {
  readonly #gateway: Gateway
  readonly #links: Map<EndpointKey, EngineLink>
  readonly #watcher: EndpointWatcher
  /** As last declared, of all that have not left. */
  readonly #specs = new Map<EndpointKey, EndpointSpec>()

  /** @param links kept here, read by the gateway */
  constructor(gateway: Gateway, links: Map<EndpointKey, EngineLink>, watcher: EndpointWatcher) {
    this.#gateway = gateway
    this.#links = links
    this.#watcher = watcher
  }

  /** Makes the fleet what the configuration says: now, but for what still runs. */
  become(specs: readonly EndpointSpec[]): FleetChanges {
    const counts = { added: 0, removed: 0, changed: 0 }
    const wanted = new Set(specs.map(({ url }) => url))
    for (const endpoint of [...this.#specs.keys()]) {
      if (wanted.has(endpoint) || this.#gateway.exits.has(endpoint)) continue
      counts.removed++
      this.#remove(endpoint)
    }
    for (const spec of specs) {
      const before = this.#specs.get(spec.url)
      this.#specs.set(spec.url, spec)
      if (before === undefined) {
        counts.added++
        this.#join(spec)
        continue
      }
      if (this.#gateway.exits.cancel(spec.url)) {
        counts.added++
        this.#drain(spec.url, false)
      }
      if (isDeepStrictEqual(before, spec)) continue
      counts.changed++
      this.#redeclare(before, spec)
    }
    return counts
  }

  /** Nothing is asked of the engines any more, and nobody leaves. */
  stop(): void {
    this.#gateway.exits.stop()
    this.#watcher.stop()
  }

  disconnect(): void {
    for (const { pool } of this.#links.values()) pool.close()
  }

  #join(spec: EndpointSpec): void {
    const { scheduler, metrics, decisionLog, config } = this.#gateway.parts
    const { connectTimeoutMs, upstreamIdleMs } = config
    const options = { connectTimeoutMs, idleSocketMs: upstreamIdleMs }
    const pool = new UpstreamPool(spec.url, options, scheduler)
    metrics.endpointJoined(spec.url)
    const event = {
      type: 'endpoint-joined',
      atMs: this.#gateway.nowMs(),
      endpoint: spec.url,
      description: declaredBy(spec),
    } as const
    this.#gateway.tell(event)
    decisionLog?.endpoint(event)
    this.#connect(spec, pool)
  }

  #connect(spec: EndpointSpec, pool: UpstreamPool): void {
    const apiKey = apiKeyOf(spec, process.env)
    this.#links.set(spec.url, { pool, apiKey })
    const fetch = engineFetch(pool, this.#gateway.parts.scheduler)
    this.#watcher.add({ endpoint: spec.url, fetch, apiKey, declared: declaredBy(spec) })
  }

  /** The same engine, of which the operator says something else; its connections stay. */
  #redeclare(before: EndpointSpec, spec: EndpointSpec): void {
    const withdrawn = Object.keys(declaredBy(before)).map((key) => [key, undefined])
    const description: EndpointDescription = {
      ...Object.fromEntries(withdrawn),
      ...declaredBy(spec),
    }
    const atMs = this.#gateway.nowMs()
    const endpoint = spec.url
    this.#gateway.learned({ type: 'endpoint-described', atMs, endpoint, description })
    // What was withdrawn is asked of the engine again.
    this.#connect(spec, this.#links.get(endpoint)!.pool)
  }

  #remove(endpoint: EndpointKey): void {
    const { drainTimeoutMs } = this.#gateway.parts.config
    this.#drain(endpoint, true)
    const open = this.#gateway.openAt(endpoint)
    this.#gateway.exits.begin(endpoint, open, drainTimeoutMs, () => this.#gone(endpoint))
  }

  #drain(endpoint: EndpointKey, draining: boolean): void {
    const atMs = this.#gateway.nowMs()
    this.#gateway.tell({ type: 'endpoint-draining', atMs, endpoint, draining })
  }

  #gone(endpoint: EndpointKey): void {
    const { metrics, decisionLog, owners, log } = this.#gateway.parts
    this.#specs.delete(endpoint)
    this.#watcher.remove(endpoint)
    const event = { type: 'endpoint-left', atMs: this.#gateway.nowMs(), endpoint } as const
    this.#gateway.tell(event)
    decisionLog?.endpoint(event)
    metrics.endpointLeft(endpoint)
    owners.forget(endpoint)
    this.#links.get(endpoint)!.pool.close()
    this.#links.delete(endpoint)
    log.log(logLines.endpointLeft(endpoint))
  }
}

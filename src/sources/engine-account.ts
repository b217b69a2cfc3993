import type { EndpointDescription, EngineKind, EngineSignals } from '../core/fleet/endpoint.ts'
import type { FallbackKind } from '../observe/fallbacks.ts'
import { logLines } from '../observe/log-lines.ts'
import { describeEngine } from './describe-engine.ts'
import { engineHeaders } from './engine-fetch.ts'
import { InstanceTracker } from './instance-tracker.ts'
import { missingSignals, type Scrape, scrapeMetrics } from './scrape-metrics.ts'
import type { WatchDependencies, WatchTarget } from './watch-options.ts'
import { watchRules } from './watch-options.ts'

/**
 * What one engine said of itself so far, over its restarts. Turns answers into events: a
 * description when something in it changed, signals with each scrape.
 */
export class EngineAccount {
  readonly #target: WatchTarget
  readonly #watch: WatchDependencies
  readonly #instance = new InstanceTracker()
  readonly #headers: readonly string[]
  /** Fallbacks that were reported and still last; each is reported once per occurrence. */
  readonly #fallen = new Set<FallbackKind>()
  #said: EndpointDescription = {}
  #emitted = ''
  #emittedId: string | null = null
  /** Why another process is suspected or known to answer. */
  #evidence = ''
  /** Grows with each restart: answers of an older process are dropped. */
  #epoch = 0
  /** The epoch that the last description is of; -1 for none. */
  #describedEpoch = -1
  #closed = false
  /** Scrapes in a row that found no page. */
  missingScrapes = 0

  constructor(target: WatchTarget, watch: WatchDependencies) {
    this.#target = target
    this.#watch = watch
    this.#headers = engineHeaders(target.apiKey)
  }

  get engine(): EngineKind {
    return this.#target.declared.engine ?? this.#said.engine ?? 'unknown'
  }

  /** Whether the current process has described itself. */
  get described(): boolean {
    return this.#describedEpoch === this.#epoch
  }

  /** The endpoint was removed: whatever is still on its way says nothing. */
  close(): void {
    this.#closed = true
  }

  /** Nothing listened at the address and now something does: all that was known is in doubt. */
  cameBack(): void {
    this.#instance.cameBack()
    this.#beginEpoch('nothing listened there in between')
  }

  /** Asks for models, version and limits. */
  async describe(): Promise<void> {
    const epoch = this.#epoch
    const { declared, fetch } = this.#target
    const known = this.#describedEpoch === epoch ? this.engine : (declared.engine ?? null)
    const timeoutMs = watchRules.scrapeTimeoutMs
    const account = await describeEngine(fetch, known, this.#headers, timeoutMs)
    if (this.#closed || epoch !== this.#epoch) return
    this.#said = { ...this.#said, ...account.description }
    this.#describedEpoch = epoch
    const unlisted = declared.models === undefined ? account.modelsProblem : null
    this.#fallback('models-unknown', unlisted === null ? null : `/v1/models: ${unlisted}`)
    const unknown = this.engine === 'unknown'
    this.#fallback('engine-unknown', unknown ? 'no known engine answers like this' : null)
    this.emitDescription()
  }

  /** Reads the metrics page once. */
  async scrape(): Promise<void> {
    const epoch = this.#epoch
    const { fetch } = this.#target
    const timeoutMs = watchRules.scrapeTimeoutMs
    const scrape = await scrapeMetrics(fetch, this.engine, this.#headers, timeoutMs)
    if (this.#closed || epoch !== this.#epoch) return
    this.missingScrapes = scrape.kind === 'missing' ? this.missingScrapes + 1 : 0
    this.#learn(scrape)
    this.#observed(scrape.kind === 'read' ? scrape.metrics.signals : null)
  }

  /** Says what is known, if that is news, once it is known who speaks. */
  emitDescription(): void {
    const { endpoint, declared } = this.#target
    const { logger, scheduler, emit } = this.#watch
    const { id } = this.#instance
    if (id === null) return
    const description = { ...this.#said, ...declared, instanceId: id }
    const text = JSON.stringify(description)
    if (text === this.#emitted) return
    if (this.#emittedId !== null && this.#emittedId !== id) {
      logger.log(logLines.endpointRestarted(endpoint, this.#evidence))
    }
    this.#emitted = text
    this.#emittedId = id
    emit({ type: 'endpoint-described', atMs: scheduler.nowMs(), endpoint, description })
    const { version, models } = description
    const ids = models?.map((model) => model.id) ?? null
    logger.log(logLines.endpointDescribed(endpoint, this.engine, version ?? null, ids))
  }

  /** The first look is over: from now on the engine has an identity, its own or one given to it. */
  settle(): void {
    this.#instance.settle()
    this.emitDescription()
  }

  #learn(scrape: Scrape): void {
    const { endpoint } = this.#target
    const { counters } = this.#watch
    if (scrape.kind !== 'read') counters.scrapeFailed(endpoint, scrape.cause)
    // A single failure is only counted; the page was there and will be there again.
    if (scrape.kind === 'failed') return
    this.#fallback('metrics-missing', scrape.kind === 'missing' ? scrape.detail : null)
    this.#fallback('metrics-unreadable', scrape.kind === 'unreadable' ? scrape.detail : null)
    if (scrape.kind !== 'read') return
    const { instanceId, ...description } = scrape.metrics.description
    const evidence = this.#instance.scraped(instanceId, scrape.metrics.signals)
    this.#said = { ...this.#said, ...description }
    if (evidence !== null) {
      this.#beginEpoch(evidence)
      this.emitDescription()
    }
    const lacking = missingSignals(this.engine, scrape.metrics.signals).join(', ')
    this.#fallback('metrics-partial', lacking === '' ? null : `its page lacks ${lacking}`)
    const silent = this.#instance.reports ? null : 'no process_start_time_seconds on its page'
    this.#fallback('restart-unseen', silent)
    if (this.described) this.settle()
  }

  #observed(signals: EngineSignals | null): void {
    const { endpoint } = this.#target
    const atMs = this.#watch.scheduler.nowMs()
    this.#watch.emit({ type: 'endpoint-observed', atMs, endpoint, signals })
  }

  /** What was asked before says nothing any more, and what was complained of may be mended. */
  #beginEpoch(evidence: string): void {
    this.#epoch++
    this.#evidence = evidence
    this.#fallen.clear()
    this.missingScrapes = 0
  }

  /** @param detail what is wrong; null when nothing is (any more) */
  #fallback(kind: FallbackKind, detail: string | null): void {
    if (detail === null) {
      this.#fallen.delete(kind)
      return
    }
    if (this.#fallen.has(kind)) return
    this.#fallen.add(kind)
    this.#watch.counters.fellBack(kind)
    this.#watch.logger.log(logLines.fallback(kind, this.#target.endpoint, detail))
  }
}

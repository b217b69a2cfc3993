import { logLines } from '../observe/log-lines.ts'
import { EngineAccount } from './engine-account.ts'
import { engineHeaders } from './engine-fetch.ts'
import type { FetchGate } from './fetch-gate.ts'
import { type HealthAnswer, probeHealth } from './probe-health.ts'
import type { WatchDependencies, WatchTarget } from './watch-options.ts'
import { watchRules } from './watch-options.ts'

/**
 * Watches one endpoint until it is stopped: one loop asks for its health, another reads its metrics
 * and its description. Neither ever gives up; after failures they only come less often. A verdict
 * on health is left to the core: this says what was seen.
 */
export class EndpointWatch {
  readonly #target: WatchTarget
  readonly #watch: WatchDependencies
  readonly #gate: FetchGate
  readonly #account: EngineAccount
  readonly #timers = new Set<() => void>()
  #stopped = false
  #probing = false
  #cancelProbe = (): void => {}
  #healthPath: string | null = null
  #probeFailures = 0
  #everHealthy = false
  /** A probe found nobody there, and none has found somebody since. */
  #gone = false
  /** A process that nobody has looked at yet answers there, or will. */
  #unseen = true
  #probedAtMs = Number.NEGATIVE_INFINITY
  #describeAtMs = Number.NEGATIVE_INFINITY

  constructor(target: WatchTarget, watch: WatchDependencies, gate: FetchGate) {
    this.#target = target
    this.#watch = watch
    this.#gate = gate
    this.#account = new EngineAccount(target, watch)
    this.#probeAfter(0)
    this.#scrapeAfter(watch.random.next() * watch.intervals.scrapeIntervalMs)
  }

  /** Nothing more is asked or told, whatever is still on its way. */
  stop(): void {
    this.#stopped = true
    this.#account.close()
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }

  /** Something was seen that makes a probe worthwhile: a refused request, say. */
  probeSoon(): void {
    if (this.#stopped || this.#probing || this.#probeFailures > 0) return
    if (this.#watch.scheduler.nowMs() - this.#probedAtMs < watchRules.retryMs) return
    this.#cancelProbe()
    this.#probeAfter(0)
  }

  async #probe(): Promise<void> {
    this.#probing = true
    const { scheduler, intervals } = this.#watch
    this.#probedAtMs = scheduler.nowMs()
    const answer = await probeHealth(
      this.#target.fetch,
      this.#account.engine,
      this.#healthPath,
      engineHeaders(this.#target.apiKey),
      intervals.healthTimeoutMs,
    )
    if (this.#stopped) return
    if (answer.problem === null) await this.#healthy(answer, scheduler.nowMs() - this.#probedAtMs)
    else this.#unhealthy(answer)
    this.#probing = false
    if (this.#stopped) return
    this.#probeAfter(
      this.#probeFailures === 0
        ? this.#jittered(intervals.healthIntervalMs)
        : this.#retryDelayMs(intervals.healthIntervalMs),
    )
  }

  async #healthy(answer: HealthAnswer, healthMs: number): Promise<void> {
    const recovered = this.#probeFailures > 0 || !this.#everHealthy
    if (this.#gone && this.#everHealthy) {
      this.#account.cameBack()
      this.#unseen = true
    }
    this.#noteHealthPath(answer.path)
    this.#probeFailures = 0
    this.#gone = false
    this.#everHealthy = true
    // Who it is must be known before requests are sent there: they belong to the new process.
    if (this.#unseen) await this.#firstLook()
    if (this.#stopped) return
    this.#emitProbed(true, 'ready')
    const { logger } = this.#watch
    if (recovered) logger.log(logLines.endpointUp(this.#target.endpoint, healthMs))
  }

  #unhealthy(answer: HealthAnswer): void {
    const { cause, reason, gone } = answer.problem!
    const { endpoint } = this.#target
    if (this.#probeFailures === 0) this.#watch.logger.log(logLines.endpointDown(endpoint, reason))
    this.#probeFailures++
    if (gone) {
      this.#gone = true
      // What answers there next may be another engine.
      this.#healthPath = null
    }
    this.#watch.counters.probeFailed(endpoint, cause)
    this.#emitProbed(false, reason)
  }

  /** Looks at an engine that has just come, but does not keep it waiting for a slow answer. */
  async #firstLook(): Promise<void> {
    const { scheduler } = this.#watch
    this.#unseen = false
    const looked = this.#describe().then(() => this.#account.scrape())
    await new Promise<void>((resolve) => {
      const cancel = this.#timer(scheduler.nowMs() + watchRules.settleMs, resolve)
      const done = (): void => {
        cancel()
        resolve()
      }
      looked.then(done, done)
    })
    if (!this.#stopped) this.#account.settle()
  }

  #describe(): Promise<void> {
    const nowMs = this.#watch.scheduler.nowMs()
    this.#describeAtMs = nowMs + this.#jittered(watchRules.describeIntervalMs)
    return this.#account.describe()
  }

  async #scrape(): Promise<void> {
    // Nobody is there to be asked, or nobody has been met yet; the health loop will tell.
    if (!this.#gone && this.#everHealthy) {
      await this.#gate.run(async () => {
        if (this.#stopped) return
        await this.#account.scrape()
        const due = this.#watch.scheduler.nowMs() >= this.#describeAtMs
        if (!this.#stopped && (due || !this.#account.described)) await this.#describe()
      })
    }
    if (this.#stopped) return
    const { scrapeIntervalMs } = this.#watch.intervals
    const missing = Math.min(this.#account.missingScrapes, 16)
    const intervalMs = Math.min(
      scrapeIntervalMs * 2 ** missing,
      Math.max(scrapeIntervalMs, watchRules.missingIntervalMsMax),
    )
    this.#scrapeAfter(this.#jittered(intervalMs))
  }

  #noteHealthPath(path: string): void {
    const fallen = path === '/v1/models' || (path === '/api/version' && !this.#isOllama)
    if (fallen && this.#healthPath === null) {
      const { endpoint } = this.#target
      this.#watch.counters.fellBack('health-path-missing')
      const detail = `/health is not served; asking for ${path} instead`
      this.#watch.logger.log(logLines.fallback('health-path-missing', endpoint, detail))
    }
    this.#healthPath = path
  }

  get #isOllama(): boolean {
    return this.#account.engine === 'ollama'
  }

  #emitProbed(healthy: boolean, reason: string): void {
    const { scheduler, emit } = this.#watch
    const { endpoint } = this.#target
    emit({ type: 'endpoint-probed', atMs: scheduler.nowMs(), endpoint, healthy, reason })
  }

  #retryDelayMs(healthIntervalMs: number): number {
    const grown = watchRules.retryMs * 2 ** Math.min(this.#probeFailures - 1, 16)
    const cappedMs = Math.min(grown, watchRules.retryMsMax, healthIntervalMs)
    // Only ever earlier: the cap is a promise.
    return cappedMs * (1 - watchRules.jitter * this.#watch.random.next())
  }

  #jittered(intervalMs: number): number {
    return intervalMs * (1 + watchRules.jitter * (2 * this.#watch.random.next() - 1))
  }

  #probeAfter(delayMs: number): void {
    this.#cancelProbe = this.#after(delayMs, () => this.#probe())
  }

  #scrapeAfter(delayMs: number): void {
    this.#after(delayMs, () => this.#scrape())
  }

  #after(delayMs: number, task: () => Promise<void>): () => void {
    const { scheduler, logger } = this.#watch
    return this.#timer(scheduler.nowMs() + delayMs, () => {
      task().catch((error) => {
        // A fault of ours must not end the watch: the loop goes on as after a failure.
        logger.log(logLines.internalError(null, error))
        if (!this.#stopped) this.#after(watchRules.retryMsMax, task)
      })
    })
  }

  #timer(atMs: number, run: () => void): () => void {
    const cancelTimer = this.#watch.scheduler.at(atMs, () => {
      this.#timers.delete(cancel)
      run()
    })
    const cancel = (): void => {
      this.#timers.delete(cancel)
      cancelTimer()
    }
    this.#timers.add(cancel)
    return cancel
  }
}

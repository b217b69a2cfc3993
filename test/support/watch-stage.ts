/** An endpoint watcher over scripted engines, in virtual time, with all that it says recorded. */

import { seededRandom } from '../../src/base/random.ts'
import type { EndpointDescription } from '../../src/core/fleet/endpoint.ts'
import { noCounters } from '../../src/core/router-counters.ts'
import type { LogLine } from '../../src/observe/logger.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import { EndpointWatcher } from '../../src/sources/endpoint-watcher.ts'
import type { WatchEvent, WatchIntervals } from '../../src/sources/watch-options.ts'
import { ManualScheduler } from './manual-scheduler.ts'
import { type ScriptedAnswer, ScriptedEngine } from './scripted-engine.ts'

export const watched = 'http://e0:8000'

export class WatchStage {
  readonly scheduler = new ManualScheduler()
  readonly engine = new ScriptedEngine(this.scheduler)
  readonly events: WatchEvent[] = []
  readonly lines: LogLine[] = []
  readonly metrics = new Metrics()
  readonly watcher: EndpointWatcher

  constructor(intervals: Partial<WatchIntervals> = {}, seed = 1) {
    this.watcher = new EndpointWatcher({
      scheduler: this.scheduler,
      random: seededRandom(seed),
      emit: (event) => this.events.push(event),
      logger: {
        log: (line) => this.lines.push(line),
        enabled: () => true,
        droppedLines: 0,
        flush: () => {},
      },
      counters: this.metrics,
      intervals: {
        healthIntervalMs: 1_000,
        healthTimeoutMs: 5_000,
        scrapeIntervalMs: 1_000,
        ...intervals,
      },
    })
  }

  answer(answers: ReadonlyMap<string, ScriptedAnswer>): void {
    this.engine.answers.clear()
    for (const [path, answer] of answers) this.engine.answers.set(path, answer)
  }

  watch(declared: EndpointDescription = {}, apiKey: string | null = null): void {
    const { fetch } = this.engine
    this.watcher.add({ endpoint: watched, fetch, apiKey, declared })
  }

  /** Lets virtual time pass in small steps, with all that promises set off in between. */
  async pass(ms: number): Promise<void> {
    const stepMs = 10
    for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
      this.scheduler.advance(Math.min(stepMs, ms - passedMs))
      for (let i = 0; i < 30; i++) await Promise.resolve()
    }
  }

  of<T extends WatchEvent['type']>(type: T): Extract<WatchEvent, { type: T }>[] {
    return this.events.filter((event) => event.type === type) as Extract<WatchEvent, { type: T }>[]
  }

  /** Each identity that was told, in order, without repetitions. */
  get instances(): string[] {
    const ids = this.of('endpoint-described').map(({ description }) => description.instanceId)
    return ids.filter((id, i) => id !== undefined && id !== ids[i - 1]) as string[]
  }

  warnings(event: string): LogLine[] {
    return this.lines.filter((line) => line.event === event)
  }

  fallbacks(): Readonly<Record<string, number>> {
    const all = Object.entries(this.metrics.fallbacks(noCounters(), 0))
    return Object.fromEntries(all.filter(([, count]) => count > 0))
  }
}

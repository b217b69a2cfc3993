import type { Random } from '../base/random.ts'
import type { Scheduler } from '../base/scheduler.ts'
import type {
  EndpointDescribed,
  EndpointKey,
  EndpointObserved,
  EndpointProbed,
} from '../core/events.ts'
import type { EndpointDescription } from '../core/fleet/endpoint.ts'
import type { Logger } from '../observe/logger.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { EngineFetch } from './engine-fetch.ts'

/** One endpoint to watch. */
export interface WatchTarget {
  readonly endpoint: EndpointKey
  readonly fetch: EngineFetch
  /** Sent with each probe; null for none. */
  readonly apiKey: string | null
  /** What the operator declared; it outweighs what the engine says. */
  readonly declared: EndpointDescription
}

export type WatchEvent = EndpointProbed | EndpointDescribed | EndpointObserved

export interface WatchIntervals {
  readonly healthIntervalMs: number
  readonly healthTimeoutMs: number
  readonly scrapeIntervalMs: number
}

export interface WatchDependencies {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly emit: (event: WatchEvent) => void
  readonly logger: Logger
  readonly counters: Pick<Metrics, 'fellBack' | 'probeFailed' | 'scrapeFailed'>
  readonly intervals: WatchIntervals
}

/** What is not worth an option. Milliseconds. */
export const watchRules = {
  /**
   * After a failed probe the next comes this soon, then twice as late each time, never later than
   * the maximum: a restarted engine serves again within two seconds, whenever it comes back.
   */
  retryMs: 100,
  retryMsMax: 1_000,
  /** Scrapes and descriptions; a metrics page comes from a busy process, so it may take a while. */
  scrapeTimeoutMs: 5_000,
  /** How often the list of models is read again: adapters come and go. */
  describeIntervalMs: 10_000,
  /** A page that is not there is asked for this seldom at last. */
  missingIntervalMsMax: 60_000,
  /** An engine that answers again is looked at before it is declared well, for so long at most. */
  settleMs: 500,
  /** Share of an interval by which ticks vary, so that many endpoints do not tick together. */
  jitter: 0.1,
} as const

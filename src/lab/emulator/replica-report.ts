import type { EngineCounters } from '../engine/engine-report.ts'

export interface ReplicaStats extends EngineCounters {
  readonly running: number
  readonly waiting: number
  readonly kvUsage: number
  readonly connections: number
  /** HTTP requests received since the start, of any kind. */
  readonly httpRequests: number
  /** Lives: 1, and one more for each restart. */
  readonly lives: number
}

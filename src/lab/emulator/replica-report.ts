import type { EngineCounters } from '../engine/engine-report.ts'

export interface ReplicaStats extends EngineCounters {
  readonly running: number
  readonly waiting: number
  readonly kvUsage: number
  readonly connections: number
  /** HTTP requests received in this life, of any kind. */
  readonly httpRequests: number
  /** Lives: 1, and one more for each restart. */
  readonly lives: number
}

/** What `restart` may change about the time when the port serves again. */
export interface RestartOptions {
  /** The port is closed for so long, as while a process loads its model. Real ms. */
  readonly downMs?: number
  /** Then it answers 503 for so long. */
  readonly unreadyMs?: number
}

import type { Scheduler } from '../../base/scheduler.ts'
import type {
  UpstreamCall,
  UpstreamHandler,
  UpstreamOptions,
  UpstreamRequest,
  UpstreamStats,
} from './upstream.ts'

/** Pooled HTTP/1.1 connections to one origin, `http://host:port` or `https://host:port`. */
export class UpstreamPool {
  readonly origin: string
  readonly options: UpstreamOptions
  readonly scheduler: Scheduler

  constructor(origin: string, options: UpstreamOptions, scheduler: Scheduler) {
    this.origin = origin
    this.options = options
    this.scheduler = scheduler
  }

  send(_request: UpstreamRequest, _handler: UpstreamHandler): UpstreamCall {
    throw new Error('not yet')
  }

  /** Closes idle sockets and fails what runs with `pool-closed`. */
  close(): void {}

  get stats(): UpstreamStats {
    throw new Error('not yet')
  }
}

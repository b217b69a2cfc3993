/** An engine's Prometheus page as the router's own facts. */
import type { EndpointDescription, EngineKind, EngineSignals } from '../core/fleet/endpoint.ts'

export interface EngineMetrics {
  readonly signals: EngineSignals
  /** Slow facts that the page happens to carry: capacity, match unit, instance. */
  readonly description: EndpointDescription
  /** Adapters that are running now (vLLM), newest series only; null where not reported. */
  readonly runningAdapters: readonly string[] | null
}

/** Reads one page. What the page lacks is null or left out, never zero. */
export function readEngineMetrics(_engine: EngineKind, _page: string): EngineMetrics {
  throw new Error('readEngineMetrics is being written')
}

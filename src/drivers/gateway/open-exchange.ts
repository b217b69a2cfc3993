import type { Dispatch, Hold, Refuse } from '../../core/decisions.ts'
import type { EndpointKey } from '../../core/events.ts'

/** A request that the gateway has open, whatever kind of connection it is. */
export interface OpenExchange {
  readonly requestId: string
  /** Where it was sent last; null before. */
  readonly endpoint: EndpointKey | null
  /** Who serves it at present, for as long as silence would mean something; null for nobody. */
  readonly servedBy: EndpointKey | null
  /** When the engine last gave a sign of life for it. */
  readonly lastSignMs: number
  /** Whether it waits at the router. */
  readonly isHeld: boolean
  dispatched(dispatch: Dispatch): void
  refused(refuse: Refuse): void
  held(hold: Hold): void
  /** The engine that serves it refuses connections and has been silent. */
  engineGone(): void
  /** The endpoint was taken out, and its drain's time is up. */
  endpointRemoved(): void
  /** The drain's time is up. */
  shutDown(): void
  /** The core failed on an event of this request. */
  fault(): void
  /** The core is a new one, and knows nothing of this request. */
  coreRebuilt(): void
}

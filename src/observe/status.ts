/** The shape of `/status`: what an operator and the dashboard may rely on. Durations in ms. */
import type { AdmissionStatus } from '../core/admission/admission.ts'
import type { EndpointKey } from '../core/events.ts'
import type { EngineKind, EngineSignals } from '../core/fleet/endpoint.ts'
import type { RouterCounters } from '../core/router-counters.ts'
import type { FallbackKind } from './fallbacks.ts'

export interface EndpointStatus {
  readonly url: EndpointKey
  /** Empty when the endpoint does not list its models; it may then serve any. */
  readonly models: readonly string[]
  /** Whether a new request may be sent there now: the very predicate that routing uses. */
  readonly routable: boolean
  /** Why, or why not: `ready`, `connection refused`, `ejected for 3.2 s: …`. */
  readonly reason: string
  readonly inFlight: number
  readonly queued: number
  readonly queuedTokens: number
  readonly contextTokens: number
  /** Believed, from the prefix index. */
  readonly cachedTokens: number
  readonly kvCapacityTokens: number | null
  readonly engine: EngineKind
  readonly version: string | null
  readonly instanceId: string | null
  /** The engine's own load, from the last scrape; null when there is none or it is too old. */
  readonly signals: EngineSignals | null
  readonly scrapeAgeMs: number | null
  /** Learned rates by name and unit: `prefillMsPerToken`. */
  readonly rates: Readonly<Record<string, number>>
  readonly predictionError: PredictionError
}

/** How far the router's beliefs about one endpoint were off. */
export interface PredictionError {
  /** Recent error of the predicted time to first token, relative; null before the first outcome. */
  readonly ttftRelative: number | null
  /** False while outcomes contradict the learned rates, so that the prior is used instead. */
  readonly ratesTrusted: boolean
  /** Recent cached tokens reported over predicted, 0 to 1; null before the first comparison. */
  readonly cachedShare: number | null
}

export interface HeldRequest {
  readonly requestId: string
  readonly model: string | null
  readonly tenant: string
  readonly sessionId: string | null
  readonly reason: string
  readonly waitedMs: number
  readonly deadlineInMs: number
}

export interface ModelStatus {
  readonly id: string
  readonly endpoints: number
  readonly routableEndpoints: number
}

/** What became of the configuration file since the start. */
export interface ConfigStatus {
  /** How often it was read again: taken over, or refused because of a mistake. */
  readonly reloads: { readonly applied: number; readonly refused: number }
  /** What is wrong with the file as it was read last; null when it is in force. */
  readonly problem: string | null
  /** Options whose new value in the file waits for a restart. */
  readonly needRestart: readonly string[]
}

export interface RouterStatus {
  readonly version: string
  readonly policy: string
  readonly uptimeMs: number
  /** At least one endpoint is routable and the router takes requests; what `/readyz` says. */
  readonly ready: boolean
  readonly draining: boolean
  readonly config: ConfigStatus
  readonly openRequests: number
  readonly heldRequests: number
  /** The ones that wait longest. */
  readonly held: readonly HeldRequest[]
  /** How admission stands; null where nothing is ever held. */
  readonly admission: AdmissionStatus | null
  readonly sessions: number
  readonly indexEntries: number
  readonly openConnections: { readonly client: number; readonly upstream: number }
  readonly counters: RouterCounters
  readonly fallbacks: Readonly<Partial<Record<FallbackKind, number>>>
  readonly droppedLines: { readonly log: number; readonly decisions: number }
  readonly models: readonly ModelStatus[]
  readonly endpoints: readonly EndpointStatus[]
}

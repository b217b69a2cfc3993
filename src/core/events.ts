/**
 * Everything the core can be told. Each event carries the time at which it happened (`atMs`, a
 * monotone clock of the driver's); the core has no other clock.
 */
import type { BlockChain } from './block-chain.ts'
import type { EndpointDescription, EngineSignals } from './fleet/endpoint.ts'

/** A URL (and rank), e.g. `http://gpu1:8000`. Unique within a router. */
export type EndpointKey = string

/** Where a request stood when an attempt at it ended. */
export type Phase = 'held' | 'connect' | 'sent' | 'headers' | 'body' | 'stream'

/** What the engine reported, or the driver counted, about a request. Tokens. */
export interface Usage {
  readonly promptTokens: number | null
  readonly outputTokens: number | null
  /** Prompt tokens served from the prefix cache; null where the engine does not say. */
  readonly cachedTokens: number | null
}

export interface EndpointJoined {
  readonly type: 'endpoint-joined'
  readonly atMs: number
  readonly endpoint: EndpointKey
  /** What configuration says of it; what the engine says follows as `endpoint-described`. */
  readonly description: EndpointDescription
}

export interface EndpointLeft {
  readonly type: 'endpoint-left'
  readonly atMs: number
  readonly endpoint: EndpointKey
}

/** What the engine said of itself. Fields left out keep their values. */
export interface EndpointDescribed {
  readonly type: 'endpoint-described'
  readonly atMs: number
  readonly endpoint: EndpointKey
  readonly description: EndpointDescription
}

/** One health probe's outcome. */
export interface EndpointProbed {
  readonly type: 'endpoint-probed'
  readonly atMs: number
  readonly endpoint: EndpointKey
  readonly healthy: boolean
  /** Why not healthy, in words for an operator: `connection refused`, `status 503`. */
  readonly reason: string
}

/** One scrape of the engine's metrics; null when the scrape failed. */
export interface EndpointObserved {
  readonly type: 'endpoint-observed'
  readonly atMs: number
  readonly endpoint: EndpointKey
  readonly signals: EngineSignals | null
}

/** The operator, or discovery, wants no new work there; what runs finishes. */
export interface EndpointDraining {
  readonly type: 'endpoint-draining'
  readonly atMs: number
  readonly endpoint: EndpointKey
  readonly draining: boolean
}

export interface RequestArrived {
  readonly type: 'request-arrived'
  readonly atMs: number
  /** Unique among open requests; the driver makes it, never a client. */
  readonly requestId: string
  /** The model asked for; null when the body names none: any endpoint will do. */
  readonly model: string | null
  readonly chain: BlockChain
  /** Length of the canonical prompt, of which the chain holds the whole blocks. */
  readonly promptBytes: number
  /** The client's limit on output tokens; null when it gave none. */
  readonly maxOutputTokens: number | null
  readonly streaming: boolean
  /** A session id from a trusted header; null lets the content tell. */
  readonly sessionKey: string | null
  readonly tenant: string
  readonly priorityClass: string
  /** The only endpoint that may serve it (it owns a stored response, say); null for any. */
  readonly pinnedTo: EndpointKey | null
}

/** The first token (or, without streaming, the whole answer) reached the driver. */
export interface FirstToken {
  readonly type: 'first-token'
  readonly atMs: number
  readonly requestId: string
}

/** Output so far; sent now and then during a stream, never for each token. */
export interface OutputProgressed {
  readonly type: 'output-progressed'
  readonly atMs: number
  readonly requestId: string
  readonly outputTokens: number
}

/** An attempt failed before any byte of an answer reached the client. */
export interface AttemptFailed {
  readonly type: 'attempt-failed'
  readonly atMs: number
  readonly requestId: string
  readonly phase: Phase
  /** `refused`, `reset`, `timeout`, `status 503`, … : bounded words, they become labels. */
  readonly cause: string
  /** Whether the engine may have begun the work; if so it stays on the ledger for a while. */
  readonly mayRun: boolean
  /** Whether this speaks against the endpoint (a 4xx does not). */
  readonly endpointFault: boolean
  /** Whether the driver may send it again elsewhere. */
  readonly mayRetry: boolean
  /** The engine asked for no new work for this long (Retry-After); null when it did not. */
  readonly retryAfterMs: number | null
}

export type Outcome = 'done' | 'failed' | 'client-gone'

/** The end of a request, whatever ended it. Exactly one for each that was dispatched or held. */
export interface RequestEnded {
  readonly type: 'request-ended'
  readonly atMs: number
  readonly requestId: string
  readonly outcome: Outcome
  /** Where it stood when it ended. */
  readonly phase: Phase
  /** `done`, `reset`, `error event`, `truncated`, … : bounded words, they become labels. */
  readonly cause: string
  readonly endpointFault: boolean
  readonly usage: Usage
  /** The prompt with its answer behind it, as the next turn will send it; null when unknown. */
  readonly answered: { readonly chain: BlockChain; readonly bytes: number } | null
}

/** A wake-up that the core asked for, or a later one. */
export interface TimerDue {
  readonly type: 'timer-due'
  readonly atMs: number
}

export type RouterEvent =
  | EndpointJoined
  | EndpointLeft
  | EndpointDescribed
  | EndpointProbed
  | EndpointObserved
  | EndpointDraining
  | RequestArrived
  | FirstToken
  | OutputProgressed
  | AttemptFailed
  | RequestEnded
  | TimerDue

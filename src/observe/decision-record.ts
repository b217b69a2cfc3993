/**
 * The lines of a decision log. One line of JSON each: a header, then what was known of the
 * endpoints, each decision and each outcome, joined by the request's id. Enough to run the same
 * traffic through another policy. Times are ms of the router's monotone clock; the header says
 * which wall-clock time that is.
 *
 * Compatibility: readers ignore fields and record types that they do not know. `version` changes
 * only when an old reader would misread.
 */
import type { BlockChain } from '../core/block-chain.ts'
import type { EndpointKey, Outcome, Phase } from '../core/events.ts'
import type { EndpointDescription } from '../core/fleet/endpoint.ts'

export const decisionLogVersion = 1

/** First line of each file, and again where a restarted router goes on with one. */
export interface HeaderRecord {
  readonly type: 'header'
  readonly version: number
  /** Wall-clock time, ISO 8601, at `startedAtMs` of the monotone clock. */
  readonly startedAt: string
  readonly startedAtMs: number
  readonly routerVersion: string
  readonly policy: string
  /** Bytes of prompt text that one hash of a chain stands for. */
  readonly blockBytes: number
  /** Whether decisions carry their prompt's chain. */
  readonly chains: boolean
}

/** An endpoint came, went, or described itself anew. */
export interface EndpointRecord {
  readonly type: 'endpoint'
  readonly atMs: number
  readonly endpoint: EndpointKey
  readonly present: boolean
  readonly description: EndpointDescription
}

/** One candidate: endpoint, gpu and host tokens, wait, prefill, decode, externality, score (ms). */
export type CandidateRow = readonly [
  EndpointKey,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
]

interface DecisionFields {
  readonly type: 'decision'
  readonly id: string
  /** When it was decided. */
  readonly atMs: number
  readonly arrivedAtMs: number
  /** A held request is decided again: dispatched or refused in the end. */
  readonly decision: 'dispatch' | 'hold' | 'refuse'
  /** 1 for the first; a refusal has the number of the attempt that it did not get. */
  readonly attempt: number
  readonly model: string | null
  readonly tenant: string
  readonly class: string
  readonly session: string | null
  readonly promptBytes: number
  readonly promptTokens: number | null
  readonly maxOutputTokens: number | null
  readonly streaming: boolean
  readonly queueWaitMs: number
  /** Null in a refusal. */
  readonly endpoint: EndpointKey | null
  /** Error code of a refusal. */
  readonly code: string | null
  /** The phrase that explains it. */
  readonly summary: string
  readonly cachedTokens: number | null
  readonly predictedTtftMs: number | null
  /** Best first; the best few only. */
  readonly candidates: readonly CandidateRow[]
}

/**
 * A chain as text: the first `shared` blocks are those of request `base` (the one before it in the
 * same session), the others are in `rest`, 8 bytes each (low half, high half, little-endian),
 * base64. So a conversation costs its length once, not once per turn.
 */
export interface ChainText {
  readonly base: string | null
  readonly shared: number
  readonly rest: string
}

/** As written. Only a request's first decision that is no hold carries the chain. */
export interface DecisionLine extends DecisionFields {
  readonly chain: ChainText | null
}

/** As read. */
export interface DecisionRecord extends DecisionFields {
  readonly chain: BlockChain | null
}

export interface OutcomeRecord {
  readonly type: 'outcome'
  readonly id: string
  readonly atMs: number
  readonly endpoint: EndpointKey
  readonly outcome: Outcome
  readonly phase: Phase
  readonly cause: string
  /** HTTP status that the client got; null when it was gone before. */
  readonly status: number | null
  readonly attempts: number
  /** From arrival at the router; null when no token came. */
  readonly ttftMs: number | null
  /** From the last dispatch to the first token: what `predictedTtftMs` was about. */
  readonly ttftSinceDispatchMs: number | null
  readonly e2eMs: number
  readonly promptTokens: number | null
  readonly outputTokens: number | null
  readonly cachedTokens: number | null
  /** Length of prompt and answer as the next turn sends them; null when unknown. */
  readonly answeredBytes: number | null
}

export type DecisionLogLine = HeaderRecord | EndpointRecord | DecisionLine | OutcomeRecord
export type DecisionLogRecord = HeaderRecord | EndpointRecord | DecisionRecord | OutcomeRecord

/** A request from its arrival to its end, as the core follows it. */
import type { Applicant } from './admission/admission.ts'
import type { ServiceMark } from './cost/service-meter.ts'
import type { EndpointKey, RequestArrived } from './events.ts'
import type { EndpointState } from './fleet/endpoint-state.ts'
import type { Reservation } from './fleet/ledger.ts'

/** What was believed when the request was sent; held against what came of it. */
export interface Prediction {
  /** From dispatch to first token. */
  readonly ttftMs: number
  readonly decodeMs: number
  /** Prompt tokens that the index holds there. */
  readonly matchedTokens: number
  /** Of those, as many as are expected to be found. */
  readonly cachedTokens: number
  readonly hostTokens: number
  readonly uncachedTokens: number
  /** Uncached prompt tokens queued ahead of it. */
  readonly aheadTokens: number
  /** Requests that produced tokens there, and their context, at dispatch. */
  readonly decodingSequences: number
  readonly decodingContextTokens: number
}

/** One attempt at a request: the endpoint's instance it went to, and its reservation there. */
export interface Attempt {
  readonly endpoint: EndpointState
  /** The instance's slot; differs from `endpoint.slot` once that has restarted. */
  readonly slot: number
  readonly reservation: Reservation
  readonly prediction: Prediction
  readonly dispatchedAtMs: number
  firstTokenAtMs: number | null
  /** What its endpoint had been doing up to its first token; null where that was not seen. */
  serviceMark: ServiceMark | null
}

/** It is what an `Admission` sees of it. */
export interface OpenRequest extends Applicant {
  readonly arrived: RequestArrived
  readonly tried: EndpointKey[]
  attempt: Attempt | null
}

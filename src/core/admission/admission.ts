/**
 * When a request may start, and where: the interface of everything that holds requests at the
 * router. Policies rank; an admission says among whom, or that the request must wait.
 */
import type { EndpointCandidate } from '../candidate.ts'
import type { Rates } from '../cost/rates.ts'
import type { RequestEnded } from '../events.ts'
import type { EndpointState } from '../fleet/endpoint-state.ts'
import type { RequestView } from '../policy/policy.ts'
import type { Session } from '../session/session-table.ts'

/** A request that would start now. */
export interface Applicant {
  readonly view: RequestView
  readonly session: Session | null
  readonly arrivedAtMs: number
  /** Tokens at the head of its prompt that its session had computed before, wherever that was. */
  readonly continuedTokens: number
}

export type Admittance =
  | {
      readonly type: 'admit'
      /** Those among which the policy chooses; never empty. */
      readonly candidates: readonly EndpointCandidate[]
      /** It need not queue behind those who wait. */
      readonly passes: boolean
      /** One short phrase for the explanation; empty where there is nothing to say. */
      readonly note: string
    }
  | {
      readonly type: 'hold'
      /** For an operator, in a few words: `no room: needs 52,000 tokens`. */
      readonly reason: string
      /** When it may start by time alone; infinite where only an event can help. */
      readonly lookAgainMs: number
    }

export interface Admission {
  readonly name: string
  /** Whether the request may start. Changes nothing: `dispatched` does. */
  consider(
    applicant: Applicant,
    candidates: readonly EndpointCandidate[],
    nowMs: number,
  ): Admittance
  /** Among held requests the smallest goes first. Fixed while the request is held. */
  order(applicant: Applicant): number
  /** The request waits from now on. */
  held(applicant: Applicant, nowMs: number): void
  /** It waits no longer: it starts, was refused, or its client left. */
  left(applicant: Applicant): void
  /** The request starts there: the first of the policy's ranking, or the next after a failure. */
  dispatched(applicant: Applicant, endpoint: EndpointState, nowMs: number): void
  /** An attempt failed and the request may be tried again; its work there is over. */
  withdrawn(applicant: Applicant, endpoint: EndpointState, nowMs: number): void
  firstToken(applicant: Applicant, endpoint: EndpointState, nowMs: number): void
  /** The request is over. Its last attempt was at `endpoint`, in the instance `slot`. */
  ended(applicant: Applicant, endpoint: EndpointState, slot: number, event: RequestEnded): void
  /** Someone waits, or nobody does any more. */
  waiting(held: number, nowMs: number): void
  /** An instance is gone; forget what was known of it. */
  instanceGone(slot: number): void
  /** How it stands, for the status page. */
  status(): AdmissionStatus
}

export interface AdmissionStatus {
  readonly name: string
  /** Memory promised per memory that there is; null where the rule has no such factor. */
  readonly overcommit: number | null
  /** Sessions that hold a place. */
  readonly places: number
  /** Endpoints where nobody is held, since they do not report cached tokens. */
  readonly unwatched: number
}

/** What a router has learned of the speed of its endpoints. */
export interface LearnedRates {
  rates(endpoint: EndpointState): Rates
}

/** An admission is made for one router, from what that learns. */
export type AdmissionFactory = (learned: LearnedRates) => Admission

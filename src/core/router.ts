/**
 * The decision path, top to bottom: who may serve the request, what each of them holds of its
 * prompt, what it would cost there, which is best; and in the same step its work is on the ledger.
 *
 * Events in, decisions out. No clock, no randomness, no I/O of its own: the gateway, the picker and
 * the simulator run this same class.
 */
import { assert } from '../base/assert.ts'
import type { Random } from '../base/random.ts'
import { SlotMap } from '../base/slot-map.ts'
import type { AdmissionFactory, AdmissionStatus } from './admission/admission.ts'
import type { Held } from './admission/hold-queue.ts'
import { WaitingRoom } from './admission/waiting-room.ts'
import type { EndpointCandidate } from './candidate.ts'
import type { Decision, Dispatch, Reasons } from './decisions.ts'
import type { AttemptFailed, RequestArrived, RequestEnded, RouterEvent } from './events.ts'
import { EndpointEvents } from './fleet/endpoint-events.ts'
import type { EndpointState } from './fleet/endpoint-state.ts'
import type { Pool } from './fleet/fleet.ts'
import { Fleet } from './fleet/fleet.ts'
import { Learning } from './learning.ts'
import { limits } from './limits.ts'
import type { Attempt, OpenRequest } from './open-request.ts'
import { Placement } from './placement.ts'
import type { Policy, PolicyContext } from './policy/policy.ts'
import type { PrefixIndex } from './prefix/prefix-index.ts'
import { reasonsOf } from './reasons.ts'
import { recognise } from './recognise.ts'
import { noEndpoint, refusedAttempt, unknownModel } from './refusals.ts'
import { noCounters } from './router-counters.ts'
import { SessionTable } from './session/session-table.ts'

export interface RouterOptions {
  readonly policy: Policy
  readonly index: PrefixIndex
  /** Breaks ties; seeded by the driver. */
  readonly random: Random
  /** What happens to a model that no endpoint names. */
  readonly unknownModels: 'reject' | 'forward'
  /** Who may start and who must wait, and for how long at most; left out, nobody waits. */
  readonly admission?: { readonly make: AdmissionFactory; readonly holdMsMax: number } | null
}

export class Router {
  readonly fleet = new Fleet()
  readonly sessions = new SessionTable()
  readonly counters = noCounters()
  readonly learning: Learning
  readonly policy: Policy
  readonly #options: RouterOptions
  readonly #placement: Placement
  readonly #endpointEvents: EndpointEvents
  readonly #waiting: WaitingRoom | null
  /** When someone who waits may start by time alone. */
  #lookAgainMs = Number.POSITIVE_INFINITY
  readonly #open = new SlotMap<OpenRequest>()

  constructor(options: RouterOptions) {
    this.#options = options
    this.policy = options.policy
    this.learning = new Learning(options.index, this.counters)
    this.#placement = new Placement(options.index, this.learning)
    this.#endpointEvents = new EndpointEvents(
      this.fleet,
      this.learning,
      (endpoint) => this.#instanceGone(endpoint),
      this.counters,
    )
    const { admission = null } = options
    this.#waiting = admission && new WaitingRoom(admission.make(this.learning), admission.holdMsMax)
  }

  /** What each endpoint is believed to hold. */
  get index(): PrefixIndex {
    return this.#options.index
  }

  /** Requests dispatched and not yet ended. */
  get openRequests(): number {
    return this.#open.size
  }

  /** Requests that wait here. */
  get heldRequests(): number {
    return this.#waiting?.size ?? 0
  }

  /** Those that have waited longest. */
  longestHeld(count: number): readonly Held<OpenRequest>[] {
    return this.#waiting?.longest(count) ?? []
  }

  /** How admission stands; null where there is none. */
  get admission(): AdmissionStatus | null {
    return this.#waiting?.admission.status() ?? null
  }

  handle(event: RouterEvent): readonly Decision[] {
    switch (event.type) {
      case 'request-arrived':
        return this.#arrived(event)
      case 'first-token':
        return this.#firstToken(event.requestId, event.atMs)
      case 'output-progressed':
        return this.#progressed(event.requestId, event.atMs, event.outputTokens)
      case 'attempt-failed':
        return this.#attemptFailed(event)
      case 'request-ended':
        return this.#ended(event)
      case 'timer-due':
        return this.#follow(event.atMs)
      default:
        this.#endpointEvents.handle(event)
        return this.#follow(event.atMs)
    }
  }

  #arrived(event: RequestArrived): readonly Decision[] {
    assert(!this.#open.has(event.requestId), `request ${event.requestId} arrived twice`)
    const unknown = !this.fleet.knows(event.model)
    if (unknown && this.#options.unknownModels === 'reject' && this.fleet.models().length > 0) {
      return [unknownModel(event, this.fleet.models())]
    }
    const pool = this.#poolFor(event, event.atMs)
    if (pool.available.length === 0) return [noEndpoint(event, pool)]
    const request = recognise(event, this.sessions, this.learning)
    const candidates = this.#candidates(request, pool, event.atMs)
    const waiting = this.#waiting
    if (waiting === null) return [this.#place(request, pool, candidates, '', event.atMs)]
    const verdict = waiting.admission.consider(request, candidates, event.atMs)
    if (verdict.type === 'admit' && (verdict.passes || waiting.size === 0)) {
      return [this.#place(request, pool, verdict.candidates, verdict.note, event.atMs)]
    }
    return this.#hold(request, verdict.type === 'hold' ? verdict.reason : 'others wait', event.atMs)
  }

  /** It waits, unless looking through the queue shows that it need not. */
  #hold(request: OpenRequest, reason: string, nowMs: number): readonly Decision[] {
    const waiting = this.#waiting!
    const entered = waiting.enter(request, reason, nowMs)
    if (entered.type === 'refuse') {
      this.#putOff(request)
      return [entered]
    }
    const started = this.#startHeld(nowMs)
    if (!waiting.has(request.arrived.requestId)) return started
    this.counters.held++
    return [entered, ...started, ...this.#wake(nowMs)]
  }

  /** Whoever can start now does, in the order of the queue. */
  #startHeld(nowMs: number): Decision[] {
    const started: Decision[] = []
    const waiting = this.#waiting
    this.#lookAgainMs = Number.POSITIVE_INFINITY
    let more = waiting !== null && waiting.size > 0
    while (waiting !== null && more) {
      more = false
      for (const { request, requestId } of waiting.front()) {
        const pool = this.#poolFor(request.arrived, nowMs)
        if (pool.available.length === 0) continue
        const candidates = this.#candidates(request, pool, nowMs)
        const verdict = waiting.admission.consider(request, candidates, nowMs)
        if (verdict.type === 'hold') {
          this.#lookAgainMs = Math.min(this.#lookAgainMs, verdict.lookAgainMs)
          continue
        }
        waiting.starts(requestId, nowMs)
        started.push(this.#place(request, pool, verdict.candidates, verdict.note, nowMs))
        more = true
      }
    }
    return started
  }

  /** Refused for now: when it comes again it will be as old as it is. */
  #putOff({ session, arrived }: OpenRequest): void {
    if (session !== null) this.sessions.putOff(session, arrived.chain)
  }

  /** Who may serve it now; a model that nobody names may be served by anybody. */
  #poolFor({ model, pinnedTo }: RequestArrived, nowMs: number): Pool {
    return this.fleet.pool(this.fleet.knows(model) ? model : null, nowMs, pinnedTo)
  }

  #candidates(request: OpenRequest, pool: Pool, nowMs: number): EndpointCandidate[] {
    return this.#placement.candidates(request.view, request.arrived, pool.available, nowMs)
  }

  /** Chooses among the candidates and reserves, in one step. */
  #place(
    request: OpenRequest,
    pool: Pool,
    candidates: readonly EndpointCandidate[],
    note: string,
    nowMs: number,
  ): Dispatch {
    const { view } = request
    const context: PolicyContext = { nowMs, random: this.#options.random }
    const ranking = this.policy.rank(view, candidates, context)
    assert(ranking.order.length === candidates.length, `${this.policy.name} ranks every candidate`)
    const winner = candidates[ranking.order[0]!]!
    if (pool.lastResort) this.counters.lastResort++
    const reasons = reasonsOf(this.policy.name, note, pool, candidates, ranking)
    this.policy.dispatched?.(view, winner, context)
    return this.#reserve(request, winner, reasons, nowMs)
  }

  #reserve(
    request: OpenRequest,
    winner: EndpointCandidate,
    reasons: Reasons,
    nowMs: number,
  ): Dispatch {
    const { arrived, view, session } = request
    const prediction = this.#placement.prediction(view, winner)
    const reservation = winner.state.ledger.reserve(nowMs, {
      promptTokens: view.promptTokens,
      uncachedTokens: prediction.uncachedTokens,
      prefillMs: winner.cost().prefillMs,
      outputTokens: view.outputTokens,
      streaming: arrived.streaming,
    })
    request.attempt = {
      endpoint: winner.state,
      slot: winner.slot,
      reservation,
      prediction,
      dispatchedAtMs: nowMs,
      firstTokenAtMs: null,
      serviceMark: null,
    }
    request.tried.push(winner.endpoint)
    this.learning.dispatched(winner.state, nowMs)
    this.#options.index.insert(winner.slot, arrived.chain)
    if (session !== null) {
      if (session.turns === 0) session.sharedTokens = winner.matchedTokens
      if (request.tried.length === 1) {
        this.sessions.began(arrived.atMs, session, arrived.chain, view.promptTokens)
      }
      session.lastEndpoint = winner.endpoint
    }
    this.#waiting?.admission.dispatched(request, winner.state, nowMs)
    const dispatch: Dispatch = {
      type: 'dispatch',
      requestId: arrived.requestId,
      endpoint: winner.endpoint,
      attempt: request.tried.length,
      sessionId: view.sessionId,
      promptTokens: view.promptTokens,
      cachedTokens: prediction.cachedTokens,
      predictedTtftMs: prediction.ttftMs,
      queueWaitMs: nowMs - arrived.atMs,
      reasons,
    }
    this.#open.set(arrived.requestId, request)
    return dispatch
  }

  #firstToken(requestId: string, atMs: number): readonly Decision[] {
    const attempt = this.#attemptOf(requestId)
    if (attempt === null || attempt.firstTokenAtMs !== null) return []
    attempt.firstTokenAtMs = atMs
    attempt.endpoint.health.progressed(atMs)
    attempt.reservation.ledger.firstToken(atMs, attempt.reservation)
    const request = this.#open.get(requestId)!
    this.#options.index.confirm(attempt.slot, request.arrived.chain)
    this.learning.firstToken(request, attempt, atMs)
    this.#waiting?.admission.firstToken(request, attempt.endpoint, atMs)
    return []
  }

  #progressed(requestId: string, atMs: number, outputTokens: number): readonly Decision[] {
    const attempt = this.#attemptOf(requestId)
    if (attempt === null) return []
    attempt.endpoint.health.progressed(atMs)
    attempt.reservation.ledger.progressed(attempt.reservation, outputTokens)
    return []
  }

  #attemptOf(requestId: string): Attempt | null {
    return this.#open.get(requestId)?.attempt ?? null
  }

  /** Nothing reached the client: the request may be tried elsewhere, ranked anew. */
  #attemptFailed(event: AttemptFailed): readonly Decision[] {
    const request = this.#open.get(event.requestId)
    if (request === undefined || request.attempt === null) return []
    const { attempt } = request
    request.attempt = null
    this.#options.index.withdraw(attempt.slot, request.arrived.chain)
    this.#learnFailure(attempt, event.atMs, event)
    if (event.retryAfterMs !== null) {
      attempt.endpoint.health.cooldown(event.atMs, event.retryAfterMs)
    }
    this.#letGo(attempt, event.atMs, event.mayRun)
    this.#waiting?.admission.withdrawn(request, attempt.endpoint, event.atMs)
    const next = event.mayRetry ? this.#retryPool(request, event.atMs) : null
    if (next === null) {
      this.#forget(request, event.atMs)
      return [refusedAttempt(request.tried, event), ...this.#follow(event.atMs)]
    }
    const candidates = this.#candidates(request, next, event.atMs)
    return [this.#place(request, next, candidates, '', event.atMs), ...this.#follow(event.atMs)]
  }

  /** Where a failed request may still go; null when nowhere. */
  #retryPool(request: OpenRequest, nowMs: number): Pool | null {
    if (request.tried.length >= limits.attemptsMax) return null
    const pool = this.#poolFor(request.arrived, nowMs)
    const untried = pool.available.filter((one) => !request.tried.includes(one.key))
    return untried.length === 0 ? null : { ...pool, available: untried }
  }

  #ended(event: RequestEnded): readonly Decision[] {
    const held = this.#waiting?.leave(event.requestId, event.atMs)
    if (held !== undefined) {
      if (held.session !== null) this.sessions.abandoned(held.session)
      return this.#follow(event.atMs)
    }
    const request = this.#open.get(event.requestId)
    if (request === undefined || request.attempt === null) return []
    const { attempt } = request
    const { index } = this.#options
    const prefilled = event.outcome === 'done' || attempt.firstTokenAtMs !== null
    if (!prefilled) index.withdraw(attempt.slot, request.arrived.chain)
    else if (attempt.firstTokenAtMs === null) index.confirm(attempt.slot, request.arrived.chain)
    if (event.outcome === 'done') {
      attempt.endpoint.health.succeeded(event.atMs)
      this.learning.done(request, attempt, event)
      if (event.answered !== null) {
        index.insert(attempt.slot, event.answered.chain)
        index.confirm(attempt.slot, event.answered.chain)
      }
    } else {
      this.#learnFailure(attempt, event.atMs, event)
    }
    this.#letGo(attempt, event.atMs, event.outcome === 'client-gone')
    const { admission } = this.#waiting ?? {}
    admission?.ended(request, attempt.endpoint, attempt.slot, event)
    this.#forget(request, event.atMs, event)
    return this.#follow(event.atMs)
  }

  #learnFailure(
    attempt: Attempt,
    atMs: number,
    failure: { readonly endpointFault: boolean; readonly cause: string },
  ): void {
    // The end of an old instance's request says nothing about the new one.
    if (!failure.endpointFault || attempt.slot !== attempt.endpoint.slot) return
    const refused = failure.cause === 'refused'
    if (attempt.endpoint.health.failed(atMs, failure.cause, refused)) this.counters.ejections++
  }

  /** Takes the work off the ledger, at once or when the engine is expected to have dropped it. */
  #letGo(attempt: Attempt, atMs: number, mayRun: boolean): void {
    const { ledger } = attempt.reservation
    if (!mayRun) ledger.release(attempt.reservation)
    else ledger.linger(attempt.reservation, atMs + this.learning.lingerMs(attempt))
  }

  #forget(request: OpenRequest, atMs: number, ended?: RequestEnded): void {
    this.#open.delete(request.arrived.requestId)
    const { session, arrived, view } = request
    if (session === null) return
    const output = ended?.usage.outputTokens ?? 0
    const answered = ended?.answered?.chain ?? null
    this.sessions.ended(atMs, session, arrived.chain, answered, view.promptTokens + output)
  }

  #instanceGone(endpoint: EndpointState): void {
    this.#options.index.remove(endpoint.slot)
    this.policy.endpointGone?.(endpoint.key)
    this.#waiting?.admission.instanceGone(endpoint.slot)
  }

  /** Something may have become free, or due. */
  #follow(nowMs: number): readonly Decision[] {
    const expired = this.#waiting?.expire(nowMs) ?? []
    for (const { request } of expired) this.#putOff(request)
    this.counters.holdsExpired += expired.length
    const refused = expired.map(({ refuse }) => refuse)
    return [...refused, ...this.#startHeld(nowMs), ...this.#wake(nowMs)]
  }

  /** Housekeeping that is due, and when to come back for the rest. */
  #wake(nowMs: number): readonly Decision[] {
    let nextMs = Math.min(this.#lookAgainMs, this.#waiting?.nextDeadlineMs ?? Infinity)
    for (const endpoint of this.fleet.values()) {
      const dueMs = endpoint.ledger.lingerDueMs
      if (dueMs === null) continue
      if (dueMs <= nowMs) this.counters.lingerExpired += endpoint.ledger.expireLingering(nowMs)
      nextMs = Math.min(nextMs, endpoint.ledger.lingerDueMs ?? nextMs)
    }
    return Number.isFinite(nextMs) ? [{ type: 'wake', atMs: nextMs }] : []
  }
}

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
import type { EndpointCandidate } from './candidate.ts'
import type { Decision, Dispatch, Reasons, Refuse } from './decisions.ts'
import type {
  AttemptFailed,
  EndpointKey,
  RequestArrived,
  RequestEnded,
  RouterEvent,
} from './events.ts'
import { EndpointEvents } from './fleet/endpoint-events.ts'
import type { Pool } from './fleet/fleet.ts'
import { Fleet } from './fleet/fleet.ts'
import { Learning } from './learning.ts'
import { limits } from './limits.ts'
import type { Attempt, OpenRequest } from './open-request.ts'
import { Placement } from './placement.ts'
import type { Policy, PolicyContext, RequestView } from './policy/policy.ts'
import type { PrefixIndex } from './prefix/prefix-index.ts'
import { noCounters } from './router-counters.ts'
import { SessionTable } from './session/session-table.ts'

export interface RouterOptions {
  readonly policy: Policy
  readonly index: PrefixIndex
  /** Breaks ties; seeded by the driver. */
  readonly random: Random
  /** What happens to a model that no endpoint names. */
  readonly unknownModels: 'reject' | 'forward'
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
  readonly #open = new SlotMap<OpenRequest>()

  constructor(options: RouterOptions) {
    this.#options = options
    this.policy = options.policy
    this.learning = new Learning(options.index, this.counters)
    this.#placement = new Placement(options.index, this.learning)
    this.#endpointEvents = new EndpointEvents(
      this.fleet,
      options.index,
      this.learning,
      options.policy,
      this.counters,
    )
  }

  /** What each endpoint is believed to hold. */
  get index(): PrefixIndex {
    return this.#options.index
  }

  /** Requests dispatched and not yet ended. */
  get openRequests(): number {
    return this.#open.size
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
        return this.#wake(event.atMs)
      default:
        this.#endpointEvents.handle(event)
        return this.#wake(event.atMs)
    }
  }

  #arrived(event: RequestArrived): readonly Decision[] {
    assert(!this.#open.has(event.requestId), `request ${event.requestId} arrived twice`)
    const unknown = !this.fleet.knows(event.model)
    if (unknown && this.#options.unknownModels === 'reject' && this.fleet.models().length > 0) {
      return [this.#unknownModel(event)]
    }
    const pool = this.#poolFor(event, event.atMs)
    if (pool.available.length === 0) return [noEndpoint(event, pool)]
    const request = this.#recognise(event)
    return [this.#place(request, pool, event.atMs)]
  }

  /** Who may serve it now; a model that nobody names may be served by anybody. */
  #poolFor({ model, pinnedTo }: RequestArrived, nowMs: number): Pool {
    return this.fleet.pool(this.fleet.knows(model) ? model : null, nowMs, pinnedTo)
  }

  /** Finds the request's session and what it is expected to be. */
  #recognise(event: RequestArrived): OpenRequest {
    const session = this.sessions.arrived(event.atMs, event.chain, event.sessionKey, event.tenant)
    const view: RequestView = {
      requestId: event.requestId,
      chain: event.chain,
      promptTokens: this.learning.promptTokens(event),
      outputTokens: this.learning.outputTokens(event),
      sessionId: session?.id ?? null,
      sessionEndpoint: session?.lastEndpoint ?? null,
      tenant: event.tenant,
    }
    return { arrived: event, view, session, tried: [], attempt: null }
  }

  /** Chooses and reserves in one step. */
  #place(request: OpenRequest, pool: Pool, nowMs: number): Dispatch {
    const { view } = request
    const candidates = this.#placement.candidates(view, request.arrived, pool.available, nowMs)
    const context: PolicyContext = { nowMs, random: this.#options.random }
    const ranking = this.policy.rank(view, candidates, context)
    assert(ranking.order.length === candidates.length, `${this.policy.name} ranks every candidate`)
    const winner = candidates[ranking.order[0]!]!
    if (pool.lastResort) this.counters.lastResort++
    const reasons: Reasons = {
      policy: this.policy.name,
      summary: pool.lastResort ? `last resort: ${ranking.summary}` : ranking.summary,
      candidates: ranking.order
        .slice(0, limits.explainedCandidatesMax)
        .map((i) => candidates[i]!.reasons(ranking.scores[i]!)),
      excluded: pool.excluded,
    }
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
      const { chain } = arrived
      if (request.tried.length === 1) this.sessions.began(nowMs, session, chain, view.promptTokens)
      session.lastEndpoint = winner.endpoint
    }
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
    const next = event.mayRetry ? this.#retryPool(request, event.atMs) : null
    if (next === null) {
      this.#forget(request, event.atMs)
      return [refusedAttempt(request, event), ...this.#wake(event.atMs)]
    }
    return [this.#place(request, next, event.atMs), ...this.#wake(event.atMs)]
  }

  /** Where a failed request may still go; null when nowhere. */
  #retryPool(request: OpenRequest, nowMs: number): Pool | null {
    if (request.tried.length >= limits.attemptsMax) return null
    const pool = this.#poolFor(request.arrived, nowMs)
    const untried = pool.available.filter((one) => !request.tried.includes(one.key))
    return untried.length === 0 ? null : { ...pool, available: untried }
  }

  #ended(event: RequestEnded): readonly Decision[] {
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
    this.#forget(request, event.atMs, event)
    return this.#wake(event.atMs)
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

  /** Housekeeping that is due, and when to come back for the rest. */
  #wake(nowMs: number): readonly Decision[] {
    let nextMs = Number.POSITIVE_INFINITY
    for (const endpoint of this.fleet.values()) {
      const dueMs = endpoint.ledger.lingerDueMs
      if (dueMs === null) continue
      if (dueMs <= nowMs) this.counters.lingerExpired += endpoint.ledger.expireLingering(nowMs)
      nextMs = Math.min(nextMs, endpoint.ledger.lingerDueMs ?? nextMs)
    }
    return Number.isFinite(nextMs) ? [{ type: 'wake', atMs: nextMs }] : []
  }

  #unknownModel(event: RequestArrived): Refuse {
    const models = this.fleet.models()
    const shown = models.slice(0, 20).join(', ')
    const more = models.length > 20 ? ` and ${models.length - 20} more` : ''
    return {
      type: 'refuse',
      requestId: event.requestId,
      code: 'model_not_found',
      message: `No endpoint serves the model '${event.model}'. Served here: ${shown}${more}.`,
      retryAfterMs: null,
    }
  }
}

function noEndpoint(event: RequestArrived, pool: Pool): Refuse {
  const why = new Map<string, number>()
  for (const { reason } of pool.excluded) why.set(reason, (why.get(reason) ?? 0) + 1)
  const list = [...why].map(([reason, count]) => `${count} ${reason}`).join(', ')
  const who = event.model === null ? 'any model' : `'${event.model}'`
  const counts = pool.size === 0 ? 'none is configured' : `of ${pool.size}: ${list}`
  return {
    type: 'refuse',
    requestId: event.requestId,
    code: 'no_endpoint',
    message: `No endpoint that serves ${who} can take a request now (${counts}).`,
    retryAfterMs: 1_000,
  }
}

function refusedAttempt(request: OpenRequest, event: AttemptFailed): Refuse {
  const code =
    event.phase === 'connect'
      ? 'upstream_refused'
      : event.cause.includes('timeout')
        ? 'upstream_timeout'
        : 'upstream_broken'
  const tried: readonly EndpointKey[] = request.tried
  const times = tried.length === 1 ? 'The engine' : `${tried.length} engines`
  return {
    type: 'refuse',
    requestId: event.requestId,
    code,
    message: `${times} failed before an answer began (${event.cause}); no other may be tried.`,
    retryAfterMs: 1_000,
  }
}

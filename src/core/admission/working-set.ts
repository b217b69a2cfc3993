/**
 * Session admission by working set: when the contexts of live sessions outgrow the fleet's KV
 * memory, whole sessions wait their turn instead of pushing each other's contexts out. The rule
 * that operating systems use against thrashing: who holds a place runs at once; who has none waits
 * for one. Where everything fits it does nothing.
 */
import type { EndpointCandidate } from '../candidate.ts'
import { prefillComputeMs, stepTimeMs } from '../cost/step-time.ts'
import type { RequestEnded } from '../events.ts'
import type { EndpointState } from '../fleet/endpoint-state.ts'
import { limits } from '../limits.ts'
import type { RequestView } from '../policy/policy.ts'
import type { Session } from '../session/session-table.ts'
import type {
  Admission,
  AdmissionStatus,
  Admittance,
  Applicant,
  LearnedRates,
} from './admission.ts'
import { CacheReports } from './cache-reports.ts'
import { IdleTime } from './idle-time.ts'
import { Overcommit } from './overcommit.ts'
import { type Place, Places } from './places.ts'
import { Reservations } from './reservations.ts'

/** What a context is expected to grow by before it is looked at again. */
const growthTokens = 1_000
/**
 * After this an endpoint is kept for who waits. Without it a session that needs much room is passed
 * by smaller ones: on recorded sessions the longest task then takes twice as long.
 */
const patienceMs = 60_000
/** A place is for contexts that take at least this share of an answer's time to compute again. */
const worthShare = 0.1
/**
 * Contexts that come back make others wait while they are computed, so a place is worth more than
 * that time alone. On recorded sessions 2 does 5 to 15 % better than 1 in overload, 4 no better.
 */
const holdFactor = 2
/** A session stays where at least this share of its prompt still is. */
const stayShare = 0.5

export class WorkingSet implements Admission {
  readonly name = 'working-set'
  readonly #learned: LearnedRates
  readonly #places = new Places()
  readonly #overcommit = new Overcommit()
  readonly #idleTime = new IdleTime()
  readonly #reports = new CacheReports()
  readonly #reserved = new Reservations(patienceMs)
  #somebodyWaits = false

  constructor(learned: LearnedRates) {
    this.#learned = learned
  }

  consider(
    applicant: Applicant,
    candidates: readonly EndpointCandidate[],
    nowMs: number,
  ): Admittance {
    const { view, session } = applicant
    this.#overcommit.tick(nowMs)
    if (session === null || !this.#keepsPlace(candidates[0]!.state, session, view)) {
      return admit(candidates, true, '')
    }
    const place = this.#places.of(session.id)
    const home = candidates.find(({ slot }) => slot === place?.slot)
    const order = this.order(applicant)
    const open = candidates.filter(
      ({ slot }) => !this.#reserved.isKept(slot, view.requestId, order),
    )
    const room = open.filter((one) => this.#missingTokens(one, session, view) <= 0)
    if (home !== undefined && holdsMost(home, view)) {
      // While nobody waits, going elsewhere takes no place from anybody.
      const free = this.#somebodyWaits ? [] : candidates.filter((one) => one !== home)
      return admit([home, ...free], true, this.#somebodyWaits ? 'at its place' : '')
    }
    // Where its context is gone, its place is worth no more than any other.
    if (room.length > 0) return admit(room, room.includes(home!), '')
    return this.#insteadOfOthers(open, session, view, nowMs)
  }

  /** Nowhere is room: perhaps someone at rest can make some, now or later. */
  #insteadOfOthers(
    candidates: readonly EndpointCandidate[],
    session: Session,
    view: RequestView,
    nowMs: number,
  ): Admittance {
    let best: { readonly candidate: EndpointCandidate; readonly note: string } | null = null
    let leastMs = Number.POSITIVE_INFINITY
    let lookAgainMs = Number.POSITIVE_INFINITY
    for (const candidate of candidates) {
      const idle = candidate.inFlight === 0
      this.#idleTime.observe(candidate.slot, idle, nowMs)
      const eviction = this.#eviction(candidate, session, view)
      if (eviction === null) continue
      const paidInMs = idle
        ? Math.max(0, eviction.costMs - this.#idleTime.accruedMs(candidate.slot, nowMs))
        : Number.POSITIVE_INFINITY
      const staleInMs = Math.max(0, eviction.staleAtMs - nowMs)
      const inMs = Math.min(paidInMs, staleInMs)
      lookAgainMs = Math.min(lookAgainMs, nowMs + inMs)
      if (inMs >= 1) continue
      const { waitMs, prefillMs } = candidate.cost()
      const costMs = eviction.costMs + waitMs + prefillMs
      if (costMs >= leastMs) continue
      leastMs = costMs
      best = {
        candidate,
        note: staleInMs < 1 ? 'instead of sessions long idle' : 'its endpoint had nothing to do',
      }
    }
    if (best !== null) return admit([best.candidate], false, best.note)
    this.#keepOne(candidates, session, view, nowMs)
    const needed = Math.round(view.promptTokens + view.outputTokens)
    return { type: 'hold', reason: `no room for a context of ${needed} tokens`, lookAgainMs }
  }

  /** Of the endpoints the one where least is missing. */
  #keepOne(
    candidates: readonly EndpointCandidate[],
    session: Session,
    view: RequestView,
    nowMs: number,
  ): void {
    let best: EndpointCandidate | null = null
    let least = Number.POSITIVE_INFINITY
    for (const candidate of candidates) {
      const missing = this.#missingTokens(candidate, session, view)
      if (missing >= least) continue
      least = missing
      best = candidate
    }
    if (best !== null) this.#reserved.keep(best.slot, view.requestId, nowMs)
  }

  /** The older its session, the sooner: who has begun does not queue behind newcomers. */
  order({ session, arrivedAtMs }: Applicant): number {
    return session?.createdAtMs ?? arrivedAtMs
  }

  left({ view }: Applicant): void {
    this.#reserved.left(view.requestId)
  }

  held(applicant: Applicant, nowMs: number): void {
    const { session, view } = applicant
    this.#reserved.waits(view.requestId, this.order(applicant), nowMs)
    const place = session === null ? undefined : this.#places.of(session.id)
    if (place !== undefined && place.inFlight === 0) this.#places.take(place)
  }

  dispatched({ view, session }: Applicant, endpoint: EndpointState, nowMs: number): void {
    this.#observe(endpoint, nowMs)
    if (session === null) return
    let place = this.#places.of(session.id)
    if (place !== undefined && place.slot !== endpoint.slot) {
      this.#places.take(place)
      place = undefined
    }
    const footprint = footprintTokens(session, view.promptTokens + view.outputTokens)
    if (place === undefined) {
      this.#makeRoom(endpoint, footprint)
      place = this.#places.give(session.id, endpoint.slot, footprint)
    } else {
      this.#places.resize(place, footprint)
    }
    place.keeps = this.#keepsPlace(endpoint, session, view)
    place.inFlight++
    place.idleSinceMs = null
  }

  withdrawn({ session }: Applicant, endpoint: EndpointState, nowMs: number): void {
    this.#observe(endpoint, nowMs)
    this.#rest(session, endpoint.slot, nowMs)
  }

  firstToken(_applicant: Applicant, endpoint: EndpointState, nowMs: number): void {
    this.#observe(endpoint, nowMs)
  }

  ended(
    applicant: Applicant,
    endpoint: EndpointState,
    slot: number,
    { outcome, usage, atMs: nowMs }: RequestEnded,
  ): void {
    this.#observe(endpoint, nowMs)
    this.#overcommit.tick(nowMs)
    const { session, view, continuedTokens } = applicant
    if (outcome === 'done') this.#reports.answered(slot, usage)
    if (usage.cachedTokens !== null && continuedTokens > usage.cachedTokens) {
      const lost = continuedTokens - usage.cachedTokens
      const rates = this.#learned.rates(endpoint)
      this.#overcommit.wasted(prefillComputeMs(rates, lost, usage.cachedTokens))
    }
    const place = this.#rest(session, slot, nowMs)
    if (place === undefined || session === null) return
    if (!place.keeps && place.inFlight === 0) {
      this.#places.take(place)
      return
    }
    const promptTokens = usage.promptTokens ?? view.promptTokens
    const contextTokens = promptTokens + (usage.outputTokens ?? 0)
    this.#places.resize(place, footprintTokens(session, contextTokens))
  }

  waiting(held: number, nowMs: number): void {
    this.#somebodyWaits = held > 0
    this.#overcommit.waiting(held > 0, nowMs)
    this.#idleTime.waiting(held > 0)
  }

  instanceGone(slot: number): void {
    this.#places.instanceGone(slot)
    this.#overcommit.instanceGone(slot)
    this.#idleTime.instanceGone(slot)
    this.#reserved.instanceGone(slot)
    this.#reports.instanceGone(slot)
  }

  status(): AdmissionStatus {
    return {
      name: this.name,
      overcommit: this.#overcommit.factor,
      places: this.#places.size,
      unwatched: this.#reports.silent,
    }
  }

  /** What is missing there for one more context; zero or less where it fits. */
  #missingTokens(candidate: EndpointCandidate, session: Session, view: RequestView): number {
    const capacity = this.#capacityTokens(candidate.state)
    if (capacity === null) return 0
    const place = this.#places.of(session.id)
    const own = place?.slot === candidate.slot ? place.footprintTokens : 0
    const others = this.#places.tokens(candidate.slot) - own
    return (
      others + this.#neededTokens(candidate, session, view) - this.#overcommit.factor * capacity
    )
  }

  /** Memory to be shared out there; null where that cannot be watched. */
  #capacityTokens({ slot, description }: EndpointState): number | null {
    return this.#reports.isSilent(slot) ? null : (description.kvCapacityTokens ?? null)
  }

  #neededTokens(candidate: EndpointCandidate, session: Session, view: RequestView): number {
    const shared = session.turns === 0 ? candidate.matchedTokens : session.sharedTokens
    return view.promptTokens + view.outputTokens + growthTokens - shared
  }

  /**
   * Whose places would make room there, the longest idle first: what computing their contexts again
   * costs, and when all of them will have been idle for longer than that is worth. Null where even
   * all of them together are not enough.
   */
  #eviction(
    candidate: EndpointCandidate,
    session: Session,
    view: RequestView,
  ): { readonly costMs: number; readonly staleAtMs: number } | null {
    const { state, slot, inFlight } = candidate
    let missing = this.#missingTokens(candidate, session, view)
    let costMs = 0
    let staleAtMs = Number.NEGATIVE_INFINITY
    for (const place of this.#places.idle(slot)) {
      if (missing <= 0) break
      if (place.sessionId === session.id) continue
      missing -= place.footprintTokens
      costMs += this.#recomputeMs(state, place.footprintTokens)
      staleAtMs = Math.max(staleAtMs, place.idleSinceMs! + this.#holdMs(state, place))
    }
    // A context larger than the promise has the endpoint to itself.
    if (missing > 0 && inFlight > 0) return null
    return { costMs, staleAtMs }
  }

  /**
   * Whether its context is worth a place. One that is computed again in little of the time that an
   * answer takes anyway is better computed again than waited for.
   */
  #keepsPlace(endpoint: EndpointState, session: Session, view: RequestView): boolean {
    const { ledger } = endpoint
    const contextTokens = ledger.decodingContextTokens + view.promptTokens
    const stepMs = stepTimeMs(this.#learned.rates(endpoint), ledger.decoding + 1, contextTokens)
    const ownTokens = footprintTokens(session, view.promptTokens)
    return this.#recomputeMs(endpoint, ownTokens) > worthShare * view.outputTokens * stepMs
  }

  /**
   * How long an idle session keeps its place: until keeping it has cost as much as computing its
   * context again (ski rental). A session of a quarter of the memory blocks a quarter of the
   * endpoint, so its time counts a quarter: `recompute · capacity / footprint`, times a factor.
   */
  #holdMs(endpoint: EndpointState, place: Place): number {
    const capacity = endpoint.description.kvCapacityTokens ?? 0
    const recomputeMs = this.#recomputeMs(endpoint, place.footprintTokens)
    return (holdFactor * recomputeMs * capacity) / Math.max(1, place.footprintTokens)
  }

  #recomputeMs(endpoint: EndpointState, tokens: number): number {
    return prefillComputeMs(this.#learned.rates(endpoint), tokens, 0)
  }

  /** Takes places away from idle sessions, the longest idle first, until the newcomer fits. */
  #makeRoom(endpoint: EndpointState, neededTokens: number): void {
    const capacity = this.#capacityTokens(endpoint)
    if (capacity !== null) {
      let over =
        this.#places.tokens(endpoint.slot) + neededTokens - this.#overcommit.factor * capacity
      for (const place of over > 0 ? this.#places.idle(endpoint.slot) : []) {
        if (over <= 0) break
        this.#places.take(place)
        over -= place.footprintTokens
        this.#idleTime.spend(endpoint.slot, this.#recomputeMs(endpoint, place.footprintTokens))
      }
    }
    this.#boundPlaces(endpoint)
  }

  #boundPlaces(endpoint: EndpointState): void {
    if (this.#places.size < limits.sessionsMax) return
    const [longestIdle] = this.#places.idle(endpoint.slot)
    if (longestIdle !== undefined) this.#places.take(longestIdle)
  }

  #rest(session: Session | null, slot: number, nowMs: number): Place | undefined {
    const place = session === null ? undefined : this.#places.of(session.id)
    if (place === undefined || place.slot !== slot) return undefined
    place.inFlight = Math.max(0, place.inFlight - 1)
    if (place.inFlight === 0) place.idleSinceMs = nowMs
    return place
  }

  /** Without streaming no event tells that a prefill is done: it lasts as long as predicted. */
  #observe(endpoint: EndpointState, nowMs: number): void {
    const { ledger, slot } = endpoint
    const busyMs = ledger.queuedStreaming > 0 ? Infinity : ledger.prefillBacklogMs(nowMs)
    this.#overcommit.prefillBusy(slot, nowMs, busyMs)
    this.#idleTime.observe(slot, ledger.inFlight === 0, nowMs)
  }
}

function holdsMost(candidate: EndpointCandidate, view: RequestView): boolean {
  return candidate.gpuTokens + candidate.hostTokens >= stayShare * view.promptTokens
}

function admit(
  candidates: readonly EndpointCandidate[],
  passes: boolean,
  note: string,
): Admittance {
  return { type: 'admit', candidates, passes, note }
}

/** Memory that a session takes for itself. */
function footprintTokens(session: Session, contextTokens: number): number {
  return Math.max(0, contextTokens - session.sharedTokens) + growthTokens
}

/**
 * Session admission by working set: when the contexts of live sessions outgrow the fleet's KV
 * memory, whole sessions wait their turn instead of pushing each other's contexts out. The rule
 * that operating systems use against thrashing: who holds a place runs at once; who has none waits
 * for one. Where everything fits it does nothing.
 */
import type { EndpointCandidate } from '../candidate.ts'
import { prefillComputeMs } from '../cost/step-time.ts'
import type { Usage } from '../events.ts'
import type { EndpointState } from '../fleet/endpoint-state.ts'
import { limits } from '../limits.ts'
import type { Session } from '../session/session-table.ts'
import type {
  Admission,
  AdmissionStatus,
  Admittance,
  Applicant,
  LearnedRates,
} from './admission.ts'
import { Overcommit } from './overcommit.ts'
import { type Place, Places } from './places.ts'

/** What a context is expected to grow by before it is looked at again. */
const growthTokens = 1_000
/** A session stays where at least this share of its prompt still is. */
const stayShare = 0.5

export class WorkingSet implements Admission {
  readonly name = 'working-set'
  readonly #learned: LearnedRates
  readonly #places = new Places()
  readonly #overcommit = new Overcommit()

  constructor(learned: LearnedRates) {
    this.#learned = learned
  }

  consider(
    { view, session }: Applicant,
    candidates: readonly EndpointCandidate[],
    nowMs: number,
  ): Admittance {
    this.#overcommit.tick(nowMs)
    if (session === null) return admit(candidates, true, '')
    const place = this.#places.of(session.id)
    const home = candidates.find(({ slot }) => slot === place?.slot)
    const room = candidates.filter((one) => this.#missingTokens(one, session, view) <= 0)
    if (home !== undefined) {
      const found = home.gpuTokens + home.hostTokens
      if (found >= stayShare * view.promptTokens) return admit([home], true, 'at its place')
      return admit(room.includes(home) ? room : [home, ...room], true, 'its context is gone')
    }
    if (room.length > 0) return admit(room, false, '')
    const reclaimed = this.#cheapestReclaim(candidates, session, view, nowMs)
    if (reclaimed !== null) return admit([reclaimed], false, 'in the place of sessions long idle')
    const idle = candidates.filter(({ inFlight }) => inFlight === 0)
    if (idle.length > 0) return admit(idle, false, 'its endpoint had nothing to do')
    const needed = Math.round(this.#neededTokens(candidates[0]!, session, view))
    return { type: 'hold', reason: `no room for a context of ${needed} tokens` }
  }

  /** The older its session, the sooner: who has begun does not queue behind newcomers. */
  order({ session, arrivedAtMs }: Applicant): number {
    return session?.createdAtMs ?? arrivedAtMs
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
    usage: Usage,
    nowMs: number,
  ): void {
    this.#observe(endpoint, nowMs)
    this.#overcommit.tick(nowMs)
    const { session, view, continuedTokens } = applicant
    if (usage.cachedTokens !== null && continuedTokens > usage.cachedTokens) {
      const lost = continuedTokens - usage.cachedTokens
      const rates = this.#learned.rates(endpoint)
      this.#overcommit.wasted(prefillComputeMs(rates, lost, usage.cachedTokens))
    }
    const place = this.#rest(session, slot, nowMs)
    if (place === undefined || session === null) return
    const promptTokens = usage.promptTokens ?? view.promptTokens
    const contextTokens = promptTokens + (usage.outputTokens ?? 0)
    this.#places.resize(place, footprintTokens(session, contextTokens))
  }

  waiting(held: number, nowMs: number): void {
    this.#overcommit.waiting(held > 0, nowMs)
  }

  instanceGone(slot: number): void {
    this.#places.instanceGone(slot)
    this.#overcommit.instanceGone(slot)
  }

  status(): AdmissionStatus {
    return { name: this.name, overcommit: this.#overcommit.factor, places: this.#places.size }
  }

  /** What is missing there for one more context; zero or less where it fits. */
  #missingTokens(candidate: EndpointCandidate, session: Session, view: Applicant['view']): number {
    const capacity = candidate.state.description.kvCapacityTokens
    if (capacity === undefined) return 0
    const needed = this.#neededTokens(candidate, session, view)
    return this.#places.tokens(candidate.slot) + needed - this.#overcommit.factor * capacity
  }

  #neededTokens(candidate: EndpointCandidate, session: Session, view: Applicant['view']): number {
    const shared = session.turns === 0 ? candidate.matchedTokens : session.sharedTokens
    return view.promptTokens + view.outputTokens + growthTokens - shared
  }

  /** Where sessions idle for longer than their context is worth make room at the least cost. */
  #cheapestReclaim(
    candidates: readonly EndpointCandidate[],
    session: Session,
    view: Applicant['view'],
    nowMs: number,
  ): EndpointCandidate | null {
    let best: EndpointCandidate | null = null
    let leastMs = Number.POSITIVE_INFINITY
    for (const candidate of candidates) {
      let missing = this.#missingTokens(candidate, session, view)
      let costMs = 0
      for (const place of this.#places.idle(candidate.slot)) {
        if (missing <= 0) break
        const idleMs = nowMs - place.idleSinceMs!
        if (idleMs <= this.#holdMs(candidate.state, place)) continue
        missing -= place.footprintTokens
        costMs += this.#recomputeMs(candidate.state, place.footprintTokens)
      }
      const cost = candidate.cost()
      costMs += cost.waitMs + cost.prefillMs
      if (missing > 0 || costMs >= leastMs) continue
      best = candidate
      leastMs = costMs
    }
    return best
  }

  /**
   * How long an idle session keeps its place: until keeping it has cost as much as computing its
   * context again (ski rental). A session of a quarter of the memory blocks a quarter of the
   * endpoint, so its time counts a quarter: `recompute · capacity / footprint`.
   */
  #holdMs(endpoint: EndpointState, place: Place): number {
    const capacity = endpoint.description.kvCapacityTokens ?? 0
    const recomputeMs = this.#recomputeMs(endpoint, place.footprintTokens)
    return (recomputeMs * capacity) / Math.max(1, place.footprintTokens)
  }

  #recomputeMs(endpoint: EndpointState, tokens: number): number {
    return prefillComputeMs(this.#learned.rates(endpoint), tokens, 0)
  }

  /** Takes places away from idle sessions, the longest idle first, until the newcomer fits. */
  #makeRoom(endpoint: EndpointState, neededTokens: number): void {
    const capacity = endpoint.description.kvCapacityTokens
    if (capacity !== undefined) {
      let over =
        this.#places.tokens(endpoint.slot) + neededTokens - this.#overcommit.factor * capacity
      for (const place of over > 0 ? this.#places.idle(endpoint.slot) : []) {
        if (over <= 0) break
        this.#places.take(place)
        over -= place.footprintTokens
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
  }
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

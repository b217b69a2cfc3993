import type { CandidateReasons, Dispatch, Hold, Refuse } from '../core/decisions.ts'
import type { AttemptFailed, Outcome, Phase, RequestArrived, Usage } from '../core/events.ts'
import type { Measured } from './decision-log.ts'

type Explained = Dispatch | Hold | Refuse

/** Everything that was decided about one request, as `/debug/decisions/ID` answers. */
export interface ExplainedRequest {
  readonly requestId: string
  readonly arrivedAtMs: number
  readonly model: string | null
  readonly tenant: string
  readonly priorityClass: string
  readonly promptBytes: number
  readonly streaming: boolean
  readonly steps: readonly ExplainedStep[]
  /** Null while it runs. */
  readonly end: ExplainedEnd | null
}

export interface ExplainedStep {
  readonly atMs: number
  readonly what:
    | Explained
    | { readonly type: 'failed'; readonly phase: Phase; readonly cause: string }
}

export interface ExplainedEnd extends Measured {
  readonly atMs: number
  readonly outcome: Outcome
  readonly phase: Phase
  readonly cause: string
  readonly usage: Usage
}

/** Holds, attempts and their failures; a request that is held and released often keeps its last. */
const stepsMax = 16
/** Candidates of a first dispatch that are kept; the best ones. */
const candidatesKept = 16
const candidateNumbers = 7

/** The last requests, by id; the one that arrived first is forgotten first. */
export class RecentDecisions {
  readonly #ring: Entry[] = []
  /** Places in the ring: numbers, so that the map's outgrown tables hold no requests. */
  readonly #places = new Map<string, number>()
  readonly #capacity: number
  #next = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#places.size
  }

  find(requestId: string): ExplainedRequest | null {
    return this.#entry(requestId)?.explained() ?? null
  }

  arrived(event: RequestArrived): void {
    const place = this.#next
    this.#next = (place + 1) % this.#capacity
    let entry = this.#ring[place]
    if (entry === undefined) {
      entry = new Entry()
      this.#ring[place] = entry
    } else {
      this.#places.delete(entry.requestId)
    }
    this.#places.set(event.requestId, place)
    entry.begin(event)
  }

  decided(atMs: number, decision: Explained): void {
    this.#entry(decision.requestId)?.decided(atMs, decision)
  }

  attemptFailed(event: AttemptFailed): void {
    const { atMs, phase, cause } = event
    this.#entry(event.requestId)?.step({ atMs, what: { type: 'failed', phase, cause } })
  }

  ended(requestId: string, end: ExplainedEnd): void {
    const entry = this.#entry(requestId)
    if (entry !== undefined) entry.end = end
  }

  #entry(requestId: string): Entry | undefined {
    const place = this.#places.get(requestId)
    return place === undefined ? undefined : this.#ring[place]
  }
}

/**
 * One place in the ring, used again and again. Nearly every request has one step, its dispatch,
 * which is taken apart: objects that live as long as the ring is deep would be copied by every
 * young collection until they are old, and then cost full ones.
 */
class Entry {
  requestId = ''
  end: ExplainedEnd | null = null
  #arrivedAtMs = 0
  #model: string | null = null
  #tenant = ''
  #priorityClass = ''
  #promptBytes = 0
  #streaming = false
  /** The first dispatch: its numbers, and those of its candidates, row by row. */
  readonly #dispatch = new Float64Array(6)
  readonly #candidates = new Float64Array(candidatesKept * candidateNumbers)
  readonly #endpoints: string[] = []
  #dispatched = false
  #endpoint = ''
  #sessionId: string | null = null
  #policy = ''
  #summary = ''
  #excluded: Dispatch['reasons']['excluded'] = []
  /** What followed, or came before; null for most. */
  #steps: ExplainedStep[] | null = null

  begin(event: RequestArrived): void {
    this.requestId = event.requestId
    this.end = null
    this.#arrivedAtMs = event.atMs
    this.#model = event.model
    this.#tenant = event.tenant
    this.#priorityClass = event.priorityClass
    this.#promptBytes = event.promptBytes
    this.#streaming = event.streaming
    this.#dispatched = false
    this.#steps = null
  }

  decided(atMs: number, decision: Explained): void {
    const first = !this.#dispatched && this.#steps === null
    if (decision.type === 'dispatch' && first) this.#keep(atMs, decision)
    else this.step({ atMs, what: decision })
  }

  step(step: ExplainedStep): void {
    this.#steps ??= []
    if (this.#steps.length >= stepsMax - 1) this.#steps.shift()
    this.#steps.push(step)
  }

  #keep(atMs: number, dispatch: Dispatch): void {
    this.#dispatched = true
    const numbers = this.#dispatch
    numbers[0] = atMs
    numbers[1] = dispatch.attempt
    numbers[2] = dispatch.promptTokens
    numbers[3] = dispatch.cachedTokens
    numbers[4] = dispatch.predictedTtftMs
    numbers[5] = dispatch.queueWaitMs
    const { policy, summary, candidates, excluded } = dispatch.reasons
    this.#endpoint = dispatch.endpoint
    this.#sessionId = dispatch.sessionId
    this.#policy = policy
    this.#summary = summary
    this.#excluded = excluded
    const count = Math.min(candidates.length, candidatesKept)
    this.#endpoints.length = count
    for (let i = 0; i < count; i++) this.#keepCandidate(i, candidates[i]!)
  }

  #keepCandidate(place: number, candidate: CandidateReasons): void {
    const row = this.#candidates
    const at = place * candidateNumbers
    this.#endpoints[place] = candidate.endpoint
    row[at] = candidate.gpuTokens
    row[at + 1] = candidate.hostTokens
    row[at + 2] = candidate.waitMs
    row[at + 3] = candidate.prefillMs
    row[at + 4] = candidate.decodeMs
    row[at + 5] = candidate.externalityMs
    row[at + 6] = candidate.score
  }

  explained(): ExplainedRequest {
    const steps = this.#steps ?? []
    return {
      requestId: this.requestId,
      arrivedAtMs: this.#arrivedAtMs,
      model: this.#model,
      tenant: this.#tenant,
      priorityClass: this.#priorityClass,
      promptBytes: this.#promptBytes,
      streaming: this.#streaming,
      steps: this.#dispatched ? [this.#firstDispatch(), ...steps] : [...steps],
      end: this.end,
    }
  }

  #firstDispatch(): ExplainedStep {
    const numbers = this.#dispatch
    const what: Dispatch = {
      type: 'dispatch',
      requestId: this.requestId,
      endpoint: this.#endpoint,
      attempt: numbers[1]!,
      sessionId: this.#sessionId,
      promptTokens: numbers[2]!,
      cachedTokens: numbers[3]!,
      predictedTtftMs: numbers[4]!,
      queueWaitMs: numbers[5]!,
      reasons: {
        policy: this.#policy,
        summary: this.#summary,
        candidates: this.#endpoints.map((endpoint, i) => this.#candidate(endpoint, i)),
        excluded: this.#excluded,
      },
    }
    return { atMs: numbers[0]!, what }
  }

  #candidate(endpoint: string, place: number): CandidateReasons {
    const at = place * candidateNumbers
    const [gpuTokens, hostTokens, waitMs, prefillMs, decodeMs, externalityMs, score] =
      this.#candidates.subarray(at, at + candidateNumbers) as unknown as number[]
    return {
      endpoint,
      gpuTokens: gpuTokens!,
      hostTokens: hostTokens!,
      waitMs: waitMs!,
      prefillMs: prefillMs!,
      decodeMs: decodeMs!,
      externalityMs: externalityMs!,
      score: score!,
    }
  }
}

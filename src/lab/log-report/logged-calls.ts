import type { CandidateRow, DecisionRecord, OutcomeRecord } from '../../observe/decision-record.ts'
import { type CallEnd, callPhases, type LoggedCall, type PredictedPhases } from './logged-call.ts'
import { SessionPrompts } from './session-prompts.ts'

/** Requests that may be open at once; beyond, the oldest are taken to have no end in the log. */
const openMax = 200_000

interface OpenCall {
  readonly first: DecisionRecord
  last: DecisionRecord
  readonly recallableBytes: number | null
  /** Added to times of the router's clock to make them wall-clock time. */
  readonly offsetMs: number
}

/** Joins decisions and outcomes into calls, and hands each on when it is over. */
export class LoggedCalls {
  /** Outcomes whose decision is not in the log: it was cut off at its beginning, or lost lines. */
  outcomesWithoutDecision = 0
  readonly #onCall: (call: LoggedCall) => void
  readonly #open = new Map<string, OpenCall>()
  readonly #prompts = new SessionPrompts()

  constructor(onCall: (call: LoggedCall) => void) {
    this.#onCall = onCall
  }

  /** What is open has no end in the log: the router that would have written it is gone. */
  restarted(): void {
    for (const id of [...this.#open.keys()]) this.#endless(id)
  }

  decided(record: DecisionRecord, offsetMs: number): void {
    const open = this.#open.get(record.id)
    if (open !== undefined) open.last = record
    else this.#begin(record, offsetMs)
    // A refusal of the first attempt is all that comes; later ones are followed by the outcome.
    if (record.decision === 'refuse' && record.attempt <= 1) {
      this.#end(record.id, 'refused', record.code, record.atMs)
    }
  }

  ended(record: OutcomeRecord): void {
    const open = this.#open.get(record.id)
    if (open === undefined) {
      this.outcomesWithoutDecision++
      return
    }
    this.#open.delete(record.id)
    const { first, last, recallableBytes, offsetMs } = open
    const { ttftMs, e2eMs, attempts, promptTokens, outputTokens, cachedTokens, outcome } = record
    const heldMs = last.queueWaitMs
    const prompt = promptTokens ?? last.promptTokens
    const { streaming } = first
    this.#onCall({
      ...namesOf(first),
      session: last.session,
      endpoint: record.endpoint,
      arrivedMs: offsetMs + first.arrivedAtMs,
      endedMs: offsetMs + first.arrivedAtMs + e2eMs,
      outcome,
      cause: outcome === 'done' ? null : record.cause,
      attempts,
      heldMs,
      ttftMs,
      ttftSinceDispatchMs: record.ttftSinceDispatchMs,
      predictedTtftMs: last.predictedTtftMs,
      e2eMs,
      promptTokens: prompt,
      outputTokens,
      cachedTokens,
      predictedCachedTokens: last.cachedTokens,
      recomputedTokens: recomputedOf(first, prompt, cachedTokens, recallableBytes),
      phases: callPhases({ heldMs, ttftMs, e2eMs, streaming, predicted: phasesOf(last) }),
    })
  }

  #begin(record: DecisionRecord, offsetMs: number): void {
    if (this.#open.size >= openMax) this.#endless(this.#open.keys().next().value!)
    const { session, chain } = record
    const recallableBytes =
      session === null || chain === null ? null : this.#prompts.sharedBytes(session, chain)
    this.#open.set(record.id, { first: record, last: record, recallableBytes, offsetMs })
  }

  #endless(id: string): void {
    const { last } = this.#open.get(id)!
    const refused = last.decision === 'refuse'
    this.#end(id, refused ? 'refused' : 'open', refused ? last.code : null, last.atMs)
  }

  #end(id: string, outcome: CallEnd, cause: string | null, atMs: number): void {
    const { first, last, offsetMs } = this.#open.get(id)!
    this.#open.delete(id)
    const heldMs = Math.max(0, atMs - first.arrivedAtMs)
    this.#onCall({
      ...namesOf(first),
      session: last.session,
      endpoint: last.endpoint,
      arrivedMs: offsetMs + first.arrivedAtMs,
      endedMs: offsetMs + atMs,
      outcome,
      cause,
      attempts: outcome === 'refused' ? last.attempt - 1 : last.attempt,
      heldMs,
      ttftMs: null,
      ttftSinceDispatchMs: null,
      predictedTtftMs: null,
      e2eMs: null,
      promptTokens: null,
      outputTokens: null,
      cachedTokens: null,
      predictedCachedTokens: null,
      recomputedTokens: null,
      phases: { held: heldMs, queue: 0, prefill: 0, decode: 0, unanswered: 0 },
    })
  }
}

function namesOf({ model, tenant }: DecisionRecord): { model: string; tenant: string } {
  return { model: model ?? '(none)', tenant }
}

/** Of the prompt's beginning that the session had sent before, what was not found cached. */
function recomputedOf(
  { promptBytes }: DecisionRecord,
  promptTokens: number | null,
  cachedTokens: number | null,
  recallableBytes: number | null,
): number | null {
  if (promptTokens === null || cachedTokens === null || recallableBytes === null) return null
  if (promptBytes === 0) return null
  return Math.max(0, (recallableBytes * promptTokens) / promptBytes - cachedTokens)
}

function phasesOf({ endpoint, candidates }: DecisionRecord): PredictedPhases | null {
  const chosen = candidates.find(([name]: CandidateRow) => name === endpoint)
  if (chosen === undefined) return null
  const [, , , waitMs, prefillMs, decodeMs] = chosen
  return { waitMs, prefillMs, decodeMs }
}

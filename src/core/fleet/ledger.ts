/**
 * The work reserved on one *instance* of an endpoint and not yet done. A reservation is made in the
 * same step as the choice, and comes off exactly once, whatever ends it. A restarted or re-added
 * endpoint gets a new ledger, so that the end of an old request cannot touch the new one.
 */
import { assert } from '../../base/assert.ts'

/** What is known of a piece of work when it is reserved. Tokens are predicted. */
export interface Work {
  readonly promptTokens: number
  /** Prompt tokens that must be computed there. */
  readonly uncachedTokens: number
  /** Predicted duration of its own prefill. */
  readonly prefillMs: number
  /** Output tokens it is expected to produce. */
  readonly outputTokens: number
  /** Without streaming its first token is not seen; that of a later request tells. */
  readonly streaming: boolean
}

type Stage = 'queued' | 'decoding' | 'released'

export interface Reservation {
  readonly ledger: Ledger
  readonly work: Work
  readonly reservedAtMs: number
  firstTokenAtMs: number | null
  /** Output tokens seen so far. */
  outputTokens: number
  stage: Stage
  /** Set when the request is over for its client and the engine may still be at it. */
  lingerUntilMs: number | null
}

export class Ledger {
  /** Reservations not yet released, lingering ones included. */
  inFlight = 0
  /** Requests whose first token has not come. */
  queued = 0
  /** Of those, requests whose first token will be seen. */
  queuedStreaming = 0
  /** Their uncached prompt tokens. */
  queuedTokens = 0
  /** Requests that produce tokens. */
  decoding = 0
  /** Prompt and output tokens of those. */
  decodingContextTokens = 0
  /** Output tokens that those are still expected to produce. */
  decodingRemainingTokens = 0
  /** Prompt and output tokens of everything in flight. */
  contextTokens = 0
  /** Prefill starts and ends in the order of reservation; the engine is busy with it until then. */
  #prefillBusyUntilMs = Number.NEGATIVE_INFINITY
  /** Predicted prefill time of all that is queued. */
  #queuedPrefillMs = 0
  /** Those whose first token has not come, in the order of reservation. */
  readonly #queue: Reservation[] = []
  readonly #lingering: Reservation[] = []

  reserve(atMs: number, work: Work): Reservation {
    this.inFlight++
    this.queued++
    if (work.streaming) this.queuedStreaming++
    this.queuedTokens += work.uncachedTokens
    this.contextTokens += work.promptTokens
    this.#queuedPrefillMs += work.prefillMs
    this.#prefillBusyUntilMs = Math.max(this.#prefillBusyUntilMs, atMs) + work.prefillMs
    const reservation: Reservation = {
      ledger: this,
      work,
      reservedAtMs: atMs,
      firstTokenAtMs: null,
      outputTokens: 0,
      stage: 'queued',
      lingerUntilMs: null,
    }
    this.#queue.push(reservation)
    return reservation
  }

  /** The prefill is done. Does nothing the second time. */
  firstToken(atMs: number, reservation: Reservation): void {
    if (reservation.stage !== 'queued') return
    // Engines prefill in order: what was sent before and does not stream is past its prefill too.
    const before = this.#queue.slice(0, this.#queue.indexOf(reservation))
    for (const earlier of before) if (!earlier.work.streaming) this.#startDecoding(atMs, earlier)
    this.#startDecoding(atMs, reservation)
    // What was believed of the queue is corrected by what came out of it: only the others are left.
    this.#prefillBusyUntilMs = atMs + this.#queuedPrefillMs
  }

  #startDecoding(atMs: number, reservation: Reservation): void {
    this.#leaveQueue(reservation)
    reservation.stage = 'decoding'
    reservation.firstTokenAtMs = atMs
    this.decoding++
    this.decodingContextTokens += reservation.work.promptTokens
    this.decodingRemainingTokens += remainingTokens(reservation)
  }

  /** @param outputTokens produced so far; never counts backwards. */
  progressed(reservation: Reservation, outputTokens: number): void {
    const added = outputTokens - reservation.outputTokens
    if (reservation.stage !== 'decoding' || added <= 0) return
    this.decodingRemainingTokens -= remainingTokens(reservation)
    reservation.outputTokens = outputTokens
    this.decodingRemainingTokens += remainingTokens(reservation)
    this.decodingContextTokens += added
    this.contextTokens += added
  }

  /**
   * The request is over for its client, but the engine may still be at it: its work stays here
   * until `untilMs`, or until the engine shows that it is gone.
   */
  linger(reservation: Reservation, untilMs: number): void {
    if (reservation.lingerUntilMs !== null || reservation.stage === 'released') return
    reservation.lingerUntilMs = untilMs
    this.#lingering.push(reservation)
  }

  /** Takes the work off. The first call counts; later ones do nothing and return false. */
  release(reservation: Reservation): boolean {
    assert(reservation.ledger === this, 'a reservation is released on its own ledger')
    if (reservation.stage === 'released') return false
    if (reservation.lingerUntilMs !== null) {
      this.#lingering.splice(this.#lingering.indexOf(reservation), 1)
    }
    this.#leaveStage(reservation)
    reservation.stage = 'released'
    this.inFlight--
    this.contextTokens -= reservation.work.promptTokens + reservation.outputTokens
    this.#check()
    return true
  }

  get lingering(): number {
    return this.#lingering.length
  }

  /** Releases lingering work whose time is up. */
  expireLingering(nowMs: number): number {
    const due = this.#lingering.filter((reservation) => reservation.lingerUntilMs! <= nowMs)
    for (const reservation of due) this.release(reservation)
    return due.length
  }

  /**
   * The engine reported how many requests it holds: lingering ones beyond that are gone. Oldest
   * first, since the engine notices a disconnect sooner or later.
   * @param engineRequests running and waiting requests, by the engine's own count
   */
  reconcileLingering(engineRequests: number): number {
    const live = this.inFlight - this.#lingering.length
    const stillThere = Math.max(0, engineRequests - live)
    const gone = Math.max(0, this.#lingering.length - stillThere)
    for (const reservation of this.#lingering.slice(0, gone)) this.release(reservation)
    return gone
  }

  /** When the next lingering reservation ends; null when none lingers. */
  get lingerDueMs(): number | null {
    if (this.#lingering.length === 0) return null
    return Math.min(...this.#lingering.map((reservation) => reservation.lingerUntilMs!))
  }

  /**
   * Predicted time until the prefill of what is queued is done. A queue that is overdue is not
   * empty: at least a tenth of its work is expected to be left.
   */
  prefillBacklogMs(nowMs: number): number {
    if (this.queued === 0) return 0
    return Math.max(this.#prefillBusyUntilMs - nowMs, this.#queuedPrefillMs / 10)
  }

  #leaveStage(reservation: Reservation): void {
    if (reservation.stage === 'queued') {
      this.#leaveQueue(reservation)
      this.#prefillBusyUntilMs -= reservation.work.prefillMs
    } else {
      this.decoding--
      this.decodingContextTokens -= reservation.work.promptTokens + reservation.outputTokens
      this.decodingRemainingTokens -= remainingTokens(reservation)
    }
  }

  #leaveQueue(reservation: Reservation): void {
    this.#queue.splice(this.#queue.indexOf(reservation), 1)
    this.queued--
    if (reservation.work.streaming) this.queuedStreaming--
    this.queuedTokens -= reservation.work.uncachedTokens
    this.#queuedPrefillMs -= reservation.work.prefillMs
    if (this.queued === 0) {
      // Sums of floats drift; an empty queue is exactly empty.
      this.queuedTokens = 0
      this.#queuedPrefillMs = 0
    }
  }

  #check(): void {
    const least = Math.min(this.inFlight, this.queued, this.decoding, this.contextTokens)
    assert(least > -1e-3, `a ledger count went negative (${least})`)
    assert(this.queued + this.decoding === this.inFlight, 'each reservation is in one stage')
    if (this.inFlight === 0) this.contextTokens = 0
    if (this.decoding === 0) {
      this.decodingContextTokens = 0
      this.decodingRemainingTokens = 0
    }
  }
}

/** At least one more token is expected of a request that has outrun its prediction. */
function remainingTokens(reservation: Reservation): number {
  return Math.max(1, reservation.work.outputTokens - reservation.outputTokens)
}

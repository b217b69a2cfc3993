import type { Scheduler } from '../../base/scheduler.ts'
import type { UpstreamCall, UpstreamFailure, UpstreamHandler } from '../../io/http1/upstream.ts'
import { type AnswerReader, answerReader } from '../../protocol/answer-reader.ts'
import type { BenchTarget } from './bench-target.ts'
import type { BenchTurn } from './bench-task.ts'
import type { CallOutcome, CallRecord } from './call-record.ts'

/** Told of one call; `ended` comes once, never before `start` has returned. */
export interface CallListener {
  /** `count` events with output came at one time, `gapMs` after those before them (null: first). */
  tokens(nowMs: number, count: number, gapMs: number | null): void
  ended(record: CallRecord): void
}

/** One call under way: sends the request and times its answer. */
export class BenchCall implements UpstreamHandler {
  readonly #target: BenchTarget
  readonly #scheduler: Scheduler
  readonly #listener: CallListener
  readonly #intendedMs: number
  readonly #sentMs: number
  readonly #call: UpstreamCall
  readonly #cancelTimeout: () => void
  #status = 0
  #reader: AnswerReader | null = null
  #firstTokenMs: number | null = null
  #lastTokenMs = 0
  #over = false

  constructor(
    target: BenchTarget,
    turn: BenchTurn,
    times: { readonly intendedMs: number; readonly timeoutMs: number },
    scheduler: Scheduler,
    listener: CallListener,
  ) {
    this.#target = target
    this.#scheduler = scheduler
    this.#listener = listener
    this.#intendedMs = times.intendedMs
    const body = [target.bodyOf(turn)]
    const { path, headers } = target
    this.#sentMs = scheduler.nowMs()
    this.#call = target.pool.send({ method: 'POST', path, headers, body }, this)
    const limitMs = this.#sentMs + times.timeoutMs
    this.#cancelTimeout = scheduler.at(limitMs, () => this.abort('timeout'))
  }

  /** Gives up on it. */
  abort(cause: string): void {
    if (this.#over) return
    this.#call.abort()
    this.#end('timed-out', cause)
  }

  connected(): void {}

  headers(status: number, headers: readonly string[]): void {
    this.#status = status
    const type = headers.findIndex((_, i) => i % 2 === 0 && /^content-type$/i.test(headers[i]!))
    const { api } = this.#target
    this.#reader = answerReader(api, type < 0 ? '' : headers[type + 1]!, status, null)
  }

  body(payload: readonly Buffer[]): void {
    const reader = this.#reader!
    const before = reader.outputEvents
    for (const piece of payload) reader.push(piece)
    const count = reader.outputEvents - before
    if (count > 0) this.#tokensCame(count, this.#scheduler.nowMs())
  }

  end(): void {
    const reader = this.#reader!
    const nowMs = this.#scheduler.nowMs()
    const before = reader.outputEvents
    reader.end()
    // An answer in one piece is read when it is whole: its first token comes with its end.
    if (reader.outputEvents > before) this.#tokensCame(reader.outputEvents - before, nowMs)
    const [outcome, cause] = this.#judge(reader)
    this.#end(outcome, cause, nowMs)
  }

  #judge(reader: AnswerReader): [CallOutcome, string | null] {
    const status = this.#status
    if (status === 429 || status === 503) return ['refused', `status ${status}`]
    if (status < 200 || status > 299) return ['failed', `status ${status}`]
    if (reader.errorEvent !== null) return ['failed', 'error in the answer']
    if (!reader.complete) return ['failed', 'answer cut off']
    if (this.#firstTokenMs === null) return ['failed', 'answer without output']
    return ['done', null]
  }

  error({ cause, phase }: UpstreamFailure): void {
    this.#end('failed', phase === 'connect' ? `connect: ${cause}` : cause)
  }

  #tokensCame(count: number, nowMs: number): void {
    const gapMs = this.#firstTokenMs === null ? null : nowMs - this.#lastTokenMs
    this.#firstTokenMs ??= nowMs
    this.#lastTokenMs = nowMs
    this.#listener.tokens(nowMs, count, gapMs)
  }

  #end(outcome: CallOutcome, cause: string | null, endedMs = this.#scheduler.nowMs()): void {
    if (this.#over) return
    this.#over = true
    this.#cancelTimeout()
    const usage = this.#reader?.usage
    this.#listener.ended({
      intendedMs: this.#intendedMs,
      sentMs: this.#sentMs,
      firstTokenMs: this.#firstTokenMs,
      endedMs,
      outcome,
      cause,
      promptTokens: usage?.promptTokens ?? null,
      outputTokens: usage?.outputTokens ?? this.#reader?.outputEvents ?? 0,
      cachedTokens: usage?.cachedTokens ?? null,
    })
  }
}

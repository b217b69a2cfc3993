import { QuantileSketch } from '../measure/quantile-sketch.ts'
import type { Spread } from '../measure/spread.ts'
import type { LoggedCall } from './logged-call.ts'

/** What the calls of a model, a tenant, an endpoint, or all come to. */
export interface CallFigures {
  readonly requests: {
    readonly all: number
    readonly done: number
    readonly failed: number
    readonly refused: number
    readonly clientGone: number
    readonly open: number
    /** Held at the router for a millisecond or more. */
    readonly held: number
    /** Sent to more than one endpoint. */
    readonly sentElsewhere: number
  }
  readonly ttftMs: Spread
  readonly tpotMs: Spread
  readonly e2eMs: Spread
  /** Of those that were held. */
  readonly heldMs: Spread
  readonly tokens: {
    readonly prompt: number
    readonly cached: number
    /** Of prompts whose session had sent their beginning before, and that was not found cached. */
    readonly recomputed: number
    readonly output: number
  }
  /** Of the prompt tokens of answers that say what was cached; null without any. */
  readonly cachedShare: number | null
  readonly prediction: PredictionFigures
}

/** Time to first token after dispatch, predicted against measured. */
export interface PredictionFigures {
  readonly count: number
  /** Measured over predicted: 1 is right, 2 took twice as long. */
  readonly ratio: {
    readonly p10: number | null
    readonly p50: number | null
    readonly p90: number | null
  }
  readonly errorMs: Spread
  /** Prompt tokens believed and found cached, where the answer says. */
  readonly cachedPredicted: number
  readonly cachedFound: number
}

export class CallTally {
  readonly ttftMs = new QuantileSketch()
  readonly #tpotMs = new QuantileSketch()
  readonly #e2eMs = new QuantileSketch()
  readonly #heldMs = new QuantileSketch()
  readonly #ratio = new QuantileSketch()
  readonly #errorMs = new QuantileSketch()
  readonly #requests = {
    all: 0,
    done: 0,
    failed: 0,
    refused: 0,
    clientGone: 0,
    open: 0,
    held: 0,
    sentElsewhere: 0,
  }
  readonly #tokens = { prompt: 0, cached: 0, recomputed: 0, output: 0 }
  #promptOfKnown = 0
  #cachedPredicted = 0

  get count(): number {
    return this.#requests.all
  }

  add(call: LoggedCall): void {
    const requests = this.#requests
    requests.all++
    requests[call.outcome === 'client-gone' ? 'clientGone' : call.outcome]++
    if (call.attempts > 1) requests.sentElsewhere++
    if (call.heldMs >= 1) {
      requests.held++
      this.#heldMs.add(call.heldMs)
    }
    if (call.ttftMs !== null) this.ttftMs.add(call.ttftMs)
    if (call.outcome === 'done') this.#done(call)
    this.#predicted(call)
  }

  figures(): CallFigures {
    const ratio = (p: number): number | null =>
      this.#ratio.count === 0 ? null : this.#ratio.quantile(p)
    return {
      requests: { ...this.#requests },
      ttftMs: this.ttftMs.spread(),
      tpotMs: this.#tpotMs.spread(),
      e2eMs: this.#e2eMs.spread(),
      heldMs: this.#heldMs.spread(),
      tokens: { ...this.#tokens },
      cachedShare: this.#promptOfKnown > 0 ? this.#tokens.cached / this.#promptOfKnown : null,
      prediction: {
        count: this.#ratio.count,
        ratio: { p10: ratio(0.1), p50: ratio(0.5), p90: ratio(0.9) },
        errorMs: this.#errorMs.spread(),
        cachedPredicted: this.#cachedPredicted,
        cachedFound: this.#tokens.cached,
      },
    }
  }

  #done(call: LoggedCall): void {
    const { e2eMs, ttftMs, promptTokens, outputTokens, cachedTokens, recomputedTokens } = call
    if (e2eMs !== null) this.#e2eMs.add(e2eMs)
    if (e2eMs !== null && ttftMs !== null && (outputTokens ?? 0) > 1 && e2eMs > ttftMs) {
      this.#tpotMs.add((e2eMs - ttftMs) / (outputTokens! - 1))
    }
    this.#tokens.prompt += promptTokens ?? 0
    this.#tokens.output += outputTokens ?? 0
    this.#tokens.recomputed += recomputedTokens ?? 0
    if (cachedTokens === null) return
    this.#tokens.cached += cachedTokens
    this.#promptOfKnown += promptTokens ?? 0
    this.#cachedPredicted += call.predictedCachedTokens ?? 0
  }

  #predicted({ predictedTtftMs, ttftSinceDispatchMs, attempts }: LoggedCall): void {
    if (predictedTtftMs === null || ttftSinceDispatchMs === null || attempts > 1) return
    if (predictedTtftMs <= 0) return
    this.#ratio.add(ttftSinceDispatchMs / predictedTtftMs)
    this.#errorMs.add(Math.abs(ttftSinceDispatchMs - predictedTtftMs))
  }
}

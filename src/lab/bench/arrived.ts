import type { CallRecord } from './call-record.ts'

/** Answers and tokens that came within a stretch of time, whenever their calls were sent. */
export class Arrived {
  requests = 0
  /** A prompt's count when its first token comes. */
  promptTokens = 0
  /** They come evenly from the first to the last. */
  outputTokens = 0
  readonly #fromMs: number
  #toMs: number

  constructor(fromMs: number, toMs: number) {
    this.#fromMs = fromMs
    this.#toMs = toMs
  }

  get lengthMs(): number {
    return this.#toMs - this.#fromMs
  }

  /** Ends it, if it has not ended before. */
  close(nowMs: number): void {
    this.#toMs = Math.max(this.#fromMs, Math.min(this.#toMs, nowMs))
  }

  add({ firstTokenMs, endedMs, outcome, promptTokens, outputTokens }: CallRecord): void {
    const inside = (atMs: number): boolean => atMs >= this.#fromMs && atMs <= this.#toMs
    if (outcome === 'done' && inside(endedMs)) this.requests++
    if (firstTokenMs === null) return
    if (inside(firstTokenMs)) this.promptTokens += promptTokens ?? 0
    if (endedMs === firstTokenMs) {
      if (inside(endedMs)) this.outputTokens += outputTokens
      return
    }
    const from = Math.max(this.#fromMs, firstTokenMs)
    const insideMs = Math.max(0, Math.min(this.#toMs, endedMs) - from)
    this.outputTokens += (outputTokens * insideMs) / (endedMs - firstTokenMs)
  }
}

import type { SimulatedRequest } from '../simulator/request-record.ts'
import { outputTokensIn } from './request-times.ts'
import type { TimeWindow } from './steady-middle.ts'

/** Tokens per second. */
export interface Throughput extends TimeWindow {
  /** Of prompts whose first token came, cached tokens included. */
  readonly promptTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** Requests whose last token came, per second. */
  readonly requests: number
}

/** A prompt counts when its first token comes, an answer's tokens when they come. */
export function throughputIn(
  requests: readonly SimulatedRequest[],
  { fromMs, toMs }: TimeWindow,
): Throughput {
  const inside = (atMs: number | null): boolean => atMs !== null && atMs >= fromMs && atMs <= toMs
  let prompt = 0
  let output = 0
  let done = 0
  for (const request of requests) {
    if (inside(request.firstTokenMs)) prompt += request.promptTokens
    if (inside(request.finishedMs)) done++
    output += outputTokensIn(request, fromMs, toMs)
  }
  const seconds = (toMs - fromMs) / 1_000
  const rate = (count: number): number => (seconds > 0 ? count / seconds : 0)
  return {
    fromMs,
    toMs,
    promptTokens: rate(prompt),
    outputTokens: rate(output),
    totalTokens: rate(prompt + output),
    requests: rate(done),
  }
}

/** The latencies of one request, as the field defines them. */
import type { SimulatedRequest } from '../simulator/request-record.ts'

/**
 * Time to first token, ms: from when the client had the request ready, so that whatever held it is
 * in it. Null where no token came.
 */
export function ttftMs({ readyMs, firstTokenMs }: SimulatedRequest): number | null {
  return firstTokenMs === null ? null : firstTokenMs - readyMs
}

/** Time per output token after the first, ms. Null without an end, or with one token only. */
export function tpotMs(request: SimulatedRequest): number | null {
  const { firstTokenMs, finishedMs, outputTokens } = request
  if (firstTokenMs === null || finishedMs === null || outputTokens < 2) return null
  return (finishedMs - firstTokenMs) / (outputTokens - 1)
}

/** From when the client had it ready to its last token, ms. Null without an end. */
export function e2eMs({ readyMs, finishedMs }: SimulatedRequest): number | null {
  return finishedMs === null ? null : finishedMs - readyMs
}

/** How long the router held it before it was sent, ms. Null where it never was. */
export function heldMs({ readyMs, dispatchedMs }: SimulatedRequest): number | null {
  return dispatchedMs === null ? null : dispatchedMs - readyMs
}

/** Output tokens that came between two times; they come evenly from the first to the last. */
export function outputTokensIn(request: SimulatedRequest, fromMs: number, toMs: number): number {
  const { firstTokenMs, finishedMs, outputTokens } = request
  if (firstTokenMs === null || finishedMs === null) return 0
  if (finishedMs === firstTokenMs) {
    return firstTokenMs >= fromMs && firstTokenMs < toMs ? outputTokens : 0
  }
  const insideMs = Math.min(finishedMs, toMs) - Math.max(firstTokenMs, fromMs)
  return (outputTokens * Math.max(0, insideMs)) / (finishedMs - firstTokenMs)
}

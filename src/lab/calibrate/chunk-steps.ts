/** The token budget of a step, seen by a stream beside which a long prompt is computed. Pure. */
import type { CallSample } from './engine-under-test.ts'

/** A step with a part of the prompt in it is longer than those without by this factor at least. */
const longerTimes = 1.5
const distinctTimes = 3
/** Where many pieces hold several tokens, gaps are not steps. */
const piecesShareMin = 0.8

/**
 * In how many steps the prompt was computed: gaps of the stream, up to the prompt's first token,
 * that are longer than those after it. Null where that cannot be seen.
 * @param cachedMs time to the first token of a prompt as long that was cached
 */
export function chunkSteps(
  stream: CallSample,
  prompt: CallSample,
  cachedMs: number,
): number | null {
  const { outputMs, outputTokens, sentMs } = stream
  if (outputMs.length < outputTokens * piecesShareMin) return null
  const gaps = outputMs.slice(1).map((ms, i) => ({ endMs: sentMs + ms, ms: ms - outputMs[i] }))
  const promptFirstMs = prompt.sentMs + prompt.outputMs[0]
  const after = gaps.filter(({ endMs, ms }) => endMs - ms > promptFirstMs)
  const plainMs = after.map(({ ms }) => ms).sort((a, b) => a - b)[after.length >> 1]
  if (plainMs === undefined) return null
  // The step that ends the prompt brings a token to both, one soon after the other.
  const during = gaps.filter(({ endMs }) => endMs <= promptFirstMs + plainMs / 2)
  const queuedMs = prompt.sentMs + cachedMs - plainMs
  // A step that was under way by then ends sooner than one more could.
  const computing = during.filter(({ endMs }) => endMs > queuedMs + 0.8 * plainMs)
  const meanMs = (promptFirstMs - queuedMs) / computing.length
  // Steps much longer than others are known by that, whenever the prompt was queued.
  return meanMs < distinctTimes * plainMs
    ? computing.length || null
    : countSteps(
        during.map(({ ms }) => ms),
        longerTimes * plainMs,
      ) || null
}

/**
 * The first part of a prompt takes at least a 2k-th of the time of the last one, of k parts: by the
 * growth of attention alone. What is shorter is a step without a part, that came late.
 */
function countSteps(gaps: readonly number[], leastMs: number): number {
  const longestMs = Math.max(0, ...gaps)
  let steps = gaps.filter((ms) => ms > leastMs).length
  for (;;) {
    const shortestMs = Math.max(leastMs, longestMs / (3 * steps))
    const fewer = gaps.filter((ms) => ms > shortestMs).length
    if (fewer >= steps) return steps
    steps = fewer
  }
}

/**
 * The budget that makes that many steps of a prompt, which may be miscounted by one; a power of two
 * where one does, as budgets are as a rule. Null for a single step: the prompt did not fill it.
 */
export function batchTokensOf(promptTokens: number, steps: number): number | null {
  if (steps < 2) return null
  const middle = steps - 0.5
  const budget = promptTokens / middle
  const offBy = (power: number): number => Math.abs(promptTokens / power - middle)
  const below = 2 ** Math.floor(Math.log2(budget))
  const nearest = offBy(below) < offBy(2 * below) ? below : 2 * below
  return offBy(nearest) <= 1.5 ? nearest : Math.round(budget)
}

/** Building blocks that the policies share. */
import type { Candidate, PolicyContext, Ranking } from './policy.ts'

/**
 * Ranks by score, lower first. Equal scores are ordered by a draw of the context's random numbers,
 * so that no endpoint is favoured for standing first in a list.
 */
export function rankByScore(
  scores: readonly number[],
  context: PolicyContext,
  summary: (best: number, tie: boolean) => string,
): Ranking {
  const order = rotation(scores.length, context)
  order.sort((a, b) => scores[a]! - scores[b]!)
  const tie = order.length > 1 && scores[order[0]!] === scores[order[1]!]
  return { order, scores, summary: summary(order[0]!, tie) }
}

/** 0 … count-1, started at a random place: the order in which equals are tried. */
function rotation(count: number, context: PolicyContext): number[] {
  const start = count > 1 ? Math.floor(context.random.next() * count) : 0
  const order = new Array<number>(count)
  for (let i = 0; i < count; i++) order[i] = (start + i) % count
  return order
}

/** Requests on the ledger, as a score. */
export function inFlightScores(candidates: readonly Candidate[]): number[] {
  return candidates.map((candidate) => candidate.inFlight)
}

/**
 * Puts one candidate first and orders the rest by requests in flight, so that failing over from an
 * affinity still goes to the least busy.
 */
export function rankWithFirst(
  first: number,
  candidates: readonly Candidate[],
  context: PolicyContext,
  summary: string,
): Ranking {
  const load = inFlightScores(candidates)
  const rest = rankByScore(load, context, () => '').order.filter((i) => i !== first)
  const scores = candidates.map((_, i) => (i === first ? 0 : 1 + load[i]!))
  return { order: [first, ...rest], scores, summary }
}

import { type Random, randomExponential } from '../../base/random.ts'

export type ArrivalKind = 'poisson' | 'constant'

/** Times between arrivals, ms, without end. */
export function arrivalGaps(kind: ArrivalKind, perSecond: number, random: Random): () => number {
  const meanMs = 1_000 / perSecond
  return kind === 'constant' ? () => meanMs : () => randomExponential(random, meanMs)
}

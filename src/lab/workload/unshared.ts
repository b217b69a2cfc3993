import { type Random, randomExponential, randomNormal, seededRandom } from '../../base/random.ts'
import { GrowingContext } from './context.ts'
import type { Workload, WorkloadSession } from './session.ts'

/** Single requests that share nothing, at a steady rate: the negative control of every cache. */
export interface UnsharedOptions {
  readonly perSecond: number
  readonly seconds: number
  /** Lognormal with this median, cut at ten times of it. */
  readonly promptTokensMedian: number
  readonly outputTokensMedian: number
  readonly sigma: number
}

export const unsharedDefaults: Omit<UnsharedOptions, 'perSecond' | 'seconds'> = {
  promptTokensMedian: 3_000,
  outputTokensMedian: 250,
  sigma: 0.75,
}

export function unshared(options: UnsharedOptions, seed: number): Workload {
  const random = seededRandom(seed)
  const { perSecond, seconds, promptTokensMedian, outputTokensMedian, sigma } = options
  const sessions: WorkloadSession[] = []
  let startMs = randomExponential(random, 1_000 / perSecond)
  while (startMs < seconds * 1_000) {
    const promptTokens = tokens(promptTokensMedian, sigma, random)
    const outputTokens = tokens(outputTokensMedian, sigma, random)
    const context = new GrowingContext(random, promptTokens + outputTokens)
    context.append(promptTokens + outputTokens)
    sessions.push({
      id: `request-${sessions.length}`,
      startMs,
      tenant: 'default',
      priorityClass: 'standard',
      turns: [{ gapMs: 0, promptTokens, outputTokens, chain: context.chain() }],
    })
    startMs += randomExponential(random, 1_000 / perSecond)
  }
  return { name: 'unshared', sessions }
}

function tokens(median: number, sigma: number, random: Random): number {
  const drawn = median * Math.exp(sigma * randomNormal(random))
  return Math.max(1, Math.round(Math.min(10 * median, drawn)))
}

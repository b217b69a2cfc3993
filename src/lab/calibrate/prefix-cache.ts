/** What a calibration's samples tell of the engine's prefix cache. Pure. */
import type { CallSample } from './engine-under-test.ts'
import type { Fit } from './fit-coefficients.ts'
import { amountsOf, type Coefficient, coefficients, type Observation } from './observation.ts'

/** A prompt sent again must be this much faster than it was when new. */
const fasterShare = 0.8
/** Where the new part is small, so is what a cache can save. */
const tellingTokens = 500

/**
 * Whether prompts are found cached at all: by what answers say, or by the times of prompts that
 * were sent again.
 * @param told cached tokens as answers told them
 */
export function cacheWorks(observations: readonly Observation[], told: readonly number[]): boolean {
  if (told.length > 0) return told.some((tokens) => tokens > 0)
  const long = observations.filter(
    (one) => 'promptTokens' in one && one.promptTokens >= tellingTokens,
  )
  const meanMs = (kind: string): number => {
    const of = long.filter((one) => one.kind === kind)
    return of.reduce((sum, { ms }) => sum + ms, 0) / of.length
  }
  return !(meanMs('repeated') > fasterShare * meanMs('new'))
}

/** Without cached prompts nothing tells reading a prompt from computing it. */
export const untoldWithoutCache: readonly Coefficient[] = ['ingressMsPerToken']

/** The observations as they are where nothing is ever found cached, nor shared. */
export function withoutCache(observations: readonly Observation[]): Observation[] {
  return observations.map((one) =>
    'promptTokens' in one
      ? { ...one, cachedTokens: 0 }
      : { ...one, residentTokens: one.contextTokens },
  )
}

/** The unit in which hits come, by what answers told; null where there were too few. */
export function unitOf(told: readonly number[]): number | null {
  const hits = [...new Set(told.filter((tokens) => tokens > 0))]
  return hits.length < 4 ? null : hits.reduce(greatestDivisor)
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}

/** Tells whether a call found most of its prompt cached: as the answer says, or by its time. */
export function cacheJudge(fit: Fit, batchTokensMax: number): (sample: CallSample) => boolean {
  const expectedMs = (promptTokens: number, cachedTokens: number): number => {
    const one = { kind: 'new', experiment: '', ms: 0, promptTokens, cachedTokens } as const
    return amountsOf(one, batchTokensMax).reduce(
      (sum, amount, i) => sum + amount * fit.coefficients[coefficients[i]].value,
      0,
    )
  }
  return ({ promptTokens, cachedTokens, outputMs }) => {
    if (cachedTokens !== null) return cachedTokens * 2 > promptTokens
    const newMs = expectedMs(promptTokens, 0)
    const cachedMs = expectedMs(promptTokens, promptTokens - 1)
    return outputMs[0] < Math.sqrt(newMs * cachedMs)
  }
}

/** What was measured, as sums of the step-time model's coefficients. Pure. */
import type { EngineProfile } from '../engine/profile.ts'
import type { StepWork } from '../engine/step-time.ts'

/** The coefficients that a calibration finds, in the order of their columns. */
export const coefficients = [
  't0Ms',
  'prefillMsPerToken',
  'pairMs',
  'contextMsPerToken',
  'logicalContextMsPerToken',
  'perSequenceMs',
  'ingressMs',
  'ingressMsPerToken',
] as const satisfies readonly (keyof EngineProfile)[]

export type Coefficient = (typeof coefficients)[number]

/** Prompts that are new, sent again, or longer by a new part; and answers under way. */
export type ObservationKind = 'new' | 'repeated' | 'extended' | 'decode'

interface Observed {
  readonly kind: ObservationKind
  /** Alike of all samples of one experiment, in every round. */
  readonly experiment: string
  readonly ms: number
}

/** The time from the sending of a request to its first token, the engine being idle before. */
export interface FirstTokenTime extends Observed {
  readonly promptTokens: number
  readonly cachedTokens: number
}

/** The time between two tokens, with the same sequences in each step. */
export interface TokenTime extends Observed {
  readonly sequences: number
  /** Sum of the contexts, shared parts counted each time. */
  readonly contextTokens: number
  /** The same, shared parts counted once. */
  readonly residentTokens: number
}

export type Observation = FirstTokenTime | TokenTime

/** How much of each coefficient is in an observation. */
export function amountsOf(observation: Observation, batchTokensMax: number): number[] {
  if ('promptTokens' in observation) {
    const { promptTokens, cachedTokens } = observation
    return firstTokenAmounts(promptTokens, cachedTokens, batchTokensMax)
  }
  const { sequences, contextTokens, residentTokens } = observation
  const idle = { prefillTokens: 0, prefillPairs: 0, prefilling: 0 }
  const step = stepAmounts({ ...idle, decodes: sequences, contextTokens, residentTokens })
  return [...step, 0, 0]
}

/** A prompt alone is computed in chunks of the step's token budget. */
function firstTokenAmounts(
  promptTokens: number,
  cachedTokens: number,
  batchTokensMax: number,
): number[] {
  const amounts = [0, 0, 0, 0, 0, 0, 1, promptTokens]
  for (let computed = cachedTokens; computed < promptTokens; ) {
    const tokens = Math.min(batchTokensMax, promptTokens - computed)
    const step = stepAmounts({
      prefillTokens: tokens,
      prefillPairs: tokens * (computed + tokens / 2),
      prefilling: 1,
      decodes: 0,
      contextTokens: 0,
      residentTokens: computed + tokens,
    })
    for (const [i, amount] of step.entries()) amounts[i] += amount
    computed += tokens
  }
  return amounts
}

/** `stepTimeMs` is the sum of these times the first six coefficients. */
function stepAmounts(work: StepWork): number[] {
  const { prefillTokens, prefillPairs, contextTokens, residentTokens, decodes, prefilling } = work
  const distinct = Math.min(contextTokens, residentTokens)
  return [1, prefillTokens, prefillPairs, distinct, contextTokens, decodes + prefilling]
}

/** The limits of a profile that cannot be timed, and where each was taken from. Pure. */
import { type EngineProfile, profileDefaults } from '../engine/profile.ts'

export type EngineLimits = Pick<
  EngineProfile,
  'kvTokens' | 'blockTokens' | 'batchTokensMax' | 'runningMax' | 'contextTokensMax'
>

/** By the operator, by the engine, by measuring, or by nobody: then it is the field's default. */
export type LimitSource = 'given' | 'told' | 'measured' | 'assumed'

export type LimitSources = Readonly<Record<keyof EngineLimits, LimitSource>>

/** Null is "not known". */
export type KnownLimits = { readonly [Key in keyof EngineLimits]?: number | null }

export function decideLimits(
  given: KnownLimits,
  told: KnownLimits,
  measured: KnownLimits,
): { readonly limits: EngineLimits; readonly sources: LimitSources } {
  const known: readonly (readonly [LimitSource, KnownLimits])[] = [
    ['given', given],
    ['told', told],
    ['measured', measured],
  ]
  const decide = (key: keyof EngineLimits, assumed: number): [LimitSource, number] => {
    for (const [source, values] of known) {
      const value = values[key]
      if (value !== undefined && value !== null) return [source, value]
    }
    return ['assumed', assumed]
  }
  const contextTokensMax = decide('contextTokensMax', profileDefaults.contextTokensMax)
  const decided = {
    contextTokensMax,
    kvTokens: decide('kvTokens', contextTokensMax[1]),
    blockTokens: decide('blockTokens', profileDefaults.blockTokens),
    batchTokensMax: decide('batchTokensMax', profileDefaults.batchTokensMax),
    runningMax: decide('runningMax', profileDefaults.runningMax),
  }
  const column = (i: 0 | 1): object =>
    Object.fromEntries(Object.entries(decided).map(([key, pair]) => [key, pair[i]]))
  return { sources: column(0) as LimitSources, limits: column(1) as EngineLimits }
}

import type { EngineProfile } from './profile.ts'

/** What one step computes. */
export interface StepWork {
  /** Prompt tokens (or tokens recomputed after a preemption). */
  prefillTokens: number
  /** Sum over the prefill chunks of tokens × (context before + tokens / 2). */
  prefillPairs: number
  /** Sequences of which the step computes a prefill chunk. */
  prefilling: number
  /** Sequences that decode one token. */
  decodes: number
  /** Sum of the decodes' contexts, shared prefixes counted each time. */
  contextTokens: number
  /** Distinct KV tokens in use. */
  residentTokens: number
}

/** The part of a step that its prefill causes, ms. */
export function prefillTimeMs(profile: EngineProfile, work: StepWork): number {
  return profile.prefillMsPerToken * work.prefillTokens + profile.pairMs * work.prefillPairs
}

/**
 * Duration of one step, ms:
 * `t0 + a·P + q·Σ pᵢ(cᵢ + pᵢ/2) + k·U + kl·C + r·(D + prefilling)`, with U = min(C, distinct
 * resident tokens). Charging memory bandwidth for distinct tokens and not for every logical
 * context is what makes decode with shared prefixes as fast as llm-d publishes: by logical context
 * alone it came out at about half.
 */
export function stepTimeMs(profile: EngineProfile, work: StepWork): number {
  return (
    profile.t0Ms +
    prefillTimeMs(profile, work) +
    profile.contextMsPerToken * Math.min(work.contextTokens, work.residentTokens) +
    profile.logicalContextMsPerToken * work.contextTokens +
    profile.perSequenceMs * (work.decodes + work.prefilling)
  )
}

/**
 * By how much a pure decode step is longer than the step before it, ms: every context has grown by
 * a token, so both C and U by one per sequence.
 */
export function decodeGrowthMs(profile: EngineProfile, decodes: number): number {
  return decodes * (profile.contextMsPerToken + profile.logicalContextMsPerToken)
}

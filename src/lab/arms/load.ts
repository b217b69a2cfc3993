/** What several of the field's rules look at. */
import type { Candidate, RequestView } from '../../core/policy/policy.ts'

/** Share of the prompt cached in GPU memory, and so much of the host's as `hostCredit` says. */
export function matchShare(candidate: Candidate, request: RequestView, hostCredit: number): number {
  return cachedTokens(candidate, hostCredit) / Math.max(1, request.promptTokens)
}

export function cachedTokens({ gpuTokens, hostTokens }: Candidate, hostCredit: number): number {
  return gpuTokens + hostCredit * hostTokens
}

/** 1 for the least of the values, 0 for the greatest; all equal are all 1. */
export function leastIsOne(values: readonly number[]): number[] {
  const least = Math.min(...values)
  const greatest = Math.max(...values)
  return values.map((one) => (greatest === least ? 1 : (greatest - one) / (greatest - least)))
}

/** Share of KV memory in use, by the last scrape; nothing is taken to be in use before one. */
export function kvUsage({ signals }: Candidate): number {
  return signals?.kvUsage ?? 0
}

/** The index of the smallest value; of equals the first. */
export function indexOfLeast(values: readonly number[]): number {
  return values.indexOf(Math.min(...values))
}

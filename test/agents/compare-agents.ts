/** Recorded agents over two emulated fleets alike, one behind each policy. */
import { textTable } from '../../src/commands/text-table.ts'
import type { PolicyName } from '../../src/core/policy/registry.ts'
import { type DriveResult, driveAgents, quantile } from './drive-agents.ts'
import { type FleetShape, startSide } from './fleet-side.ts'
import type { AgentRun } from './recorded-agents.ts'

export interface ComparedSide {
  readonly policy: PolicyName
  readonly result: DriveResult
}

export interface CompareOptions {
  readonly runs: readonly AgentRun[]
  readonly shape: FleetShape
  readonly atOnce: number
  readonly maxTokens: number
  readonly policies: readonly PolicyName[]
  readonly mixed?: boolean
  readonly onCall?: (policy: PolicyName, done: number) => void
}

/** One after the other, so that neither takes CPU from the other. */
export async function compareAgents(options: CompareOptions): Promise<ComparedSide[]> {
  const { runs, atOnce, maxTokens, mixed = false } = options
  const sides: ComparedSide[] = []
  for (const policy of options.policies) {
    const side = await startSide(policy, options.shape)
    const { url, model } = side
    const onCall = (done: number): void => options.onCall?.(policy, done)
    const result = await driveAgents({ url, model, runs, atOnce, maxTokens, mixed, onCall })
    await side.close()
    sides.push({ policy, result })
  }
  return sides
}

export function renderComparison(sides: readonly ComparedSide[]): string {
  const seconds = (ms: number): string => (ms / 1_000).toFixed(2)
  const columns = [
    'policy',
    'requests',
    'errors',
    'prompt tokens',
    'hit tokens',
    'hit %',
    'TTFT p50 s',
    'p90 s',
    'p99 s',
    'makespan s',
  ]
  const rows = sides.map(({ policy, result }) => [
    policy,
    result.requests,
    result.errors.length,
    result.promptTokens,
    result.cachedTokens,
    ((100 * result.cachedTokens) / Math.max(1, result.promptTokens)).toFixed(1),
    ...[0.5, 0.9, 0.99].map((p) => seconds(quantile(result.ttftMs, p))),
    seconds(result.makespanMs),
  ])
  return textTable(columns, rows)
}

/** The last line: what it comes to. */
export function summaryOf(sides: readonly ComparedSide[]): string {
  const errors = sides.reduce((sum, { result }) => sum + result.errors.length, 0)
  const [first, second] = sides
  if (first === undefined || second === undefined) return `${errors} errors.`
  const median = (side: ComparedSide): number => quantile(side.result.ttftMs, 0.5)
  const change = Math.round(100 * (median(second) / median(first) - 1))
  const ttft = `${Math.abs(change)} % ${change <= 0 ? 'lower' : 'higher'}`
  const faster = first.result.makespanMs / second.result.makespanMs
  return (
    `${second.policy} against ${first.policy}: median TTFT ${ttft}, all done ` +
    `${faster.toFixed(2)} times as fast, ${errors} errors.`
  )
}

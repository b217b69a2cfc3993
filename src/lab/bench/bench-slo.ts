import type { CallRecord } from './call-record.ts'
import { tpotOf, ttftOf } from './call-record.ts'

/** What a call must meet to count as good; null asks for nothing. */
export interface BenchSlo {
  readonly ttftMs: number | null
  readonly tpotMs: number | null
  readonly e2eMs: number | null
}

export function meetsSlo(call: CallRecord, slo: BenchSlo): boolean {
  if (call.outcome !== 'done') return false
  const within = (value: number | null, most: number | null): boolean =>
    most === null || value === null || value <= most
  return (
    within(ttftOf(call), slo.ttftMs) &&
    within(tpotOf(call), slo.tpotMs) &&
    within(call.endedMs - call.intendedMs, slo.e2eMs)
  )
}

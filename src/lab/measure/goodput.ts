import type { SimulatedRequest } from '../simulator/request-record.ts'
import { tpotMs, ttftMs } from './request-times.ts'

/** What a request must meet to count as good. */
export interface Slo {
  readonly ttftMs: number
  readonly tpotMs: number
}

export const sloDefaults: Slo = { ttftMs: 2_000, tpotMs: 60 }

export interface Goodput {
  readonly slo: Slo
  /** Good requests per second of the run. */
  readonly perSecond: number
  /** Good requests of all: those refused, failed or never ended count as missed. */
  readonly share: number
}

export function goodputOf(
  requests: readonly SimulatedRequest[],
  slo: Slo,
  durationMs: number,
): Goodput {
  const good = requests.filter((request) => meets(request, slo)).length
  return {
    slo,
    perSecond: durationMs > 0 ? good / (durationMs / 1_000) : 0,
    share: requests.length > 0 ? good / requests.length : 0,
  }
}

function meets(request: SimulatedRequest, slo: Slo): boolean {
  if (request.outcome !== 'done') return false
  return (ttftMs(request) ?? Infinity) <= slo.ttftMs && (tpotMs(request) ?? 0) <= slo.tpotMs
}

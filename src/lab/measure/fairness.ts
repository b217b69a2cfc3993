/** How service is shared between tenants who want more than they get. */
import type { SimulatedRequest } from '../simulator/request-record.ts'
import { sumOf } from './spread.ts'

/** Service of an output token, of which a prompt token is one (VTC's and llm-d's weight). */
const outputWeight = 2
/** Pairs are compared only up to so many tenants. */
const pairedTenantsMax = 32

export interface Fairness {
  /**
   * Jain's index over the tenants' service rates while they contend: 1 when all are alike, 1/n when
   * one of n gets all. A tenant contends while it and another one have a request that waits for its
   * first token. Null where nobody contends.
   */
  readonly jain: number | null
  /**
   * The largest difference in service that two tenants got while both waited, in weighted tokens
   * (VTC's bound). Null where nobody contends, or with more than 32 tenants.
   */
  readonly serviceGapTokens: number | null
}

interface Mark {
  readonly atMs: number
  readonly tenant: string
  /** 1 when a request begins to wait, -1 when its first token comes. */
  readonly by: 1 | -1
  readonly service: number
}

export function fairnessOf(requests: readonly SimulatedRequest[]): Fairness {
  const marks = marksOf(requests)
  const tenants = [...new Set(marks.map(({ tenant }) => tenant))]
  const waiting = new Map<string, number>()
  const served = new Map<string, number>()
  const contendedMs = new Map<string, number>()
  const gaps = tenants.length <= pairedTenantsMax ? new ServiceGaps(tenants) : null
  let lastMs = marks[0]?.atMs ?? 0
  for (const { atMs, tenant, by, service } of marks) {
    if (waiting.size > 1) {
      for (const one of waiting.keys()) {
        contendedMs.set(one, (contendedMs.get(one) ?? 0) + atMs - lastMs)
      }
      if (service > 0) served.set(tenant, (served.get(tenant) ?? 0) + service)
      gaps?.serve(tenant, service, waiting)
    }
    lastMs = atMs
    const left = (waiting.get(tenant) ?? 0) + by
    if (left > 0) {
      waiting.set(tenant, left)
    } else {
      waiting.delete(tenant)
      gaps?.satisfied(tenant)
    }
  }
  const rates = [...contendedMs]
    .filter(([, ms]) => ms > 0)
    .map(([tenant, ms]) => (served.get(tenant) ?? 0) / ms)
  const contended = rates.length > 1
  return {
    jain: contended ? jain(rates) : null,
    serviceGapTokens: contended ? (gaps?.most ?? null) : null,
  }
}

function marksOf(requests: readonly SimulatedRequest[]): Mark[] {
  const marks = requests.flatMap((request): Mark[] => {
    const { tenant, readyMs, firstTokenMs, promptTokens, outputTokens } = request
    if (firstTokenMs === null) return []
    const service = promptTokens + outputWeight * outputTokens
    return [
      { atMs: readyMs, tenant, by: 1, service: 0 },
      { atMs: firstTokenMs, tenant, by: -1, service },
    ]
  })
  return marks.sort((a, b) => a.atMs - b.atMs || b.by - a.by)
}

function jain(values: readonly number[]): number {
  const squares = sumOf(values.map((value) => value ** 2))
  return squares === 0 ? 1 : sumOf(values) ** 2 / (values.length * squares)
}

/** For each pair, how far its difference in service has ranged since both began to wait. */
class ServiceGaps {
  readonly #tenants: readonly string[]
  readonly #pairs = new Map<string, { difference: number; low: number; high: number }>()
  most = 0

  constructor(tenants: readonly string[]) {
    this.#tenants = tenants
  }

  serve(tenant: string, service: number, waiting: ReadonlyMap<string, number>): void {
    if (service === 0) return
    for (const other of waiting.keys()) {
      if (other === tenant) continue
      const [key, sign] = pairOf(tenant, other)
      const pair = this.#pairs.get(key) ?? { difference: 0, low: 0, high: 0 }
      this.#pairs.set(key, pair)
      pair.difference += sign * service
      pair.low = Math.min(pair.low, pair.difference)
      pair.high = Math.max(pair.high, pair.difference)
      this.most = Math.max(this.most, pair.high - pair.low)
    }
  }

  /** Whoever waits for nothing has no claim: its pairs begin anew. */
  satisfied(tenant: string): void {
    for (const other of this.#tenants) this.#pairs.delete(pairOf(tenant, other)[0])
  }
}

function pairOf(a: string, b: string): [string, 1 | -1] {
  return a < b ? [`${a}\0${b}`, 1] : [`${b}\0${a}`, -1]
}

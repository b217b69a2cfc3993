import type { Candidate, Policy, RequestView } from '../../core/policy/policy.ts'
import { rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { leastIsOne } from './load.ts'

interface Slo {
  readonly ttftMs: number
  readonly tpotMs: number
}

/** Buckets are tried in this order; within one the smallest distance to the objective wins. */
const buckets = { met: 0, idle: 1, tpotMissed: 2, ttftMissed: 3, bothMissed: 4 } as const

/** Room under both objectives, best fit first, by predicted latency. */
function predictedLatency(slo: Slo): Policy {
  return {
    name: 'llm-d-predicted-latency',
    rank(request, candidates, context) {
      const room = candidates.map((one) => roomOf(one, request, slo))
      const ttft = leastIsOne(room.map(({ ttftMs }) => Math.abs(ttftMs)))
      const tpot = leastIsOne(room.map(({ tpotMs }) => Math.abs(tpotMs)))
      const scores = candidates.map((one, i) => {
        return bucketOf(one, room[i]!) * 10 - (0.8 * ttft[i]! + 0.2 * tpot[i]!)
      })
      return rankByScore(scores, context, (best) => {
        return `${Math.round(room[best]!.ttftMs)} ms of first-token objective left`
      })
    },
  }
}

function roomOf(candidate: Candidate, request: RequestView, slo: Slo): Slo {
  const { waitMs, prefillMs, decodeMs } = candidate.cost()
  return {
    ttftMs: slo.ttftMs - waitMs - prefillMs,
    tpotMs: slo.tpotMs - decodeMs / Math.max(1, request.outputTokens),
  }
}

function bucketOf(candidate: Candidate, { ttftMs, tpotMs }: Slo): number {
  if (ttftMs >= 0 && tpotMs >= 0) return buckets.met
  if (candidate.inFlight === 0) return buckets.idle
  if (ttftMs >= 0) return buckets.tpotMissed
  return tpotMs >= 0 ? buckets.ttftMissed : buckets.bothMissed
}

export const llmdPredictedLatency: Arm = {
  name: 'llm-d-predicted-latency',
  source:
    'llm-d: latency-scorer over predicted first-token and per-token latency, strategy least; the ' +
    'predictor is our own in place of their trained model. Objectives 2 s and 60 ms.',
  variants: [
    { label: 'defaults', policy: () => predictedLatency({ ttftMs: 2_000, tpotMs: 60 }) },
    { label: 'tight', policy: () => predictedLatency({ ttftMs: 200, tpotMs: 20 }) },
    { label: 'loose', policy: () => predictedLatency({ ttftMs: 20_000, tpotMs: 200 }) },
  ],
}

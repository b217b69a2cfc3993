import type { Candidate, Policy } from '../../core/policy/policy.ts'
import { rankByScore } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { indexOfLeast } from './load.ts'

/** The window over which work counts, as the time constant of an exponential decay. */
const windowMs = 180_000
/** Prefill time of a token and decode time of one, ms, of the order of the fleet's. */
const prefillMsPerToken = 0.05
const decodeMsPerToken = 25

interface RecentWork {
  ms: number
  atMs: number
}

/** Exploit where more is cached than is new; else explore by late work and what goes out. */
function preble(): Policy {
  const recent = new Map<number, RecentWork>()
  const recentMs = (slot: number, nowMs: number): number => {
    const work = recent.get(slot)
    return work === undefined ? 0 : work.ms * Math.exp((work.atMs - nowMs) / windowMs)
  }
  const cost = (one: Candidate, promptTokens: number, nowMs: number): number => {
    const uncached = promptTokens - one.gpuTokens
    const free = Math.max(0, one.kvCapacityTokens - one.contextTokens)
    const evicted = Math.max(0, uncached - free)
    return recentMs(one.slot, nowMs) + prefillMsPerToken * (uncached + evicted)
  }
  return {
    name: 'preble',
    rank(request, candidates, context) {
      const { promptTokens } = request
      const costs = candidates.map((one) => cost(one, promptTokens, context.nowMs))
      const longest = Math.max(...candidates.map(({ gpuTokens }) => gpuTokens))
      const exploits = longest > promptTokens - longest
      const holders = costs.map((one, i) => (candidates[i]!.gpuTokens === longest ? one : Infinity))
      const first = exploits ? indexOfLeast(holders) : -1
      const scores = costs.map((one, i) => (i === first ? -1 : one))
      return rankByScore(scores, context, () => (exploits ? 'exploits' : 'explores'))
    },
    dispatched(request, candidate, { nowMs }) {
      const ms =
        prefillMsPerToken * (request.promptTokens - candidate.gpuTokens) +
        decodeMsPerToken * request.outputTokens
      recent.set(candidate.slot, { ms: recentMs(candidate.slot, nowMs) + ms, atMs: nowMs })
    },
  }
}

export const prebleArm: Arm = {
  name: 'preble',
  source:
    'Preble, arXiv 2407.00023: exploit or explore, a window of three minutes. Simplified: no ' +
    'rebalancing and no replication of hot nodes; the window decays instead of sliding.',
  variants: [{ label: 'defaults', policy: preble }],
}

import type { Policy } from './policy.ts'

/** Each endpoint in turn, by slot: what a plain load balancer does. */
export function roundRobin(): Policy {
  let lastSlot = -1
  return {
    name: 'round-robin',
    rank(_request, candidates) {
      // Slots grow, so "the next slot after the last one, else the first" is a turn that survives
      // endpoints joining and leaving.
      const distance = (slot: number): number =>
        slot > lastSlot ? slot - lastSlot : slot - lastSlot + Number.MAX_SAFE_INTEGER / 2
      const scores = candidates.map((candidate) => distance(candidate.slot))
      const order = candidates.map((_, i) => i).sort((a, b) => scores[a]! - scores[b]!)
      const turns = new Array<number>(candidates.length)
      order.forEach((candidate, turn) => {
        turns[candidate] = turn
      })
      return { order, scores: turns, summary: 'next in turn' }
    },
    dispatched(_request, candidate) {
      lastSlot = candidate.slot
    },
  }
}

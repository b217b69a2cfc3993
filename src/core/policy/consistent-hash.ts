import type { Policy, RequestView } from './policy.ts'
import { inFlightScores } from './rank.ts'

/** An owner may hold so many times the mean load before its keys spill (Mirrokni et al., 2016). */
const loadFactor = 1.25

/** Blocks at the head of a prompt that identify it where no session is known. */
const headBlocks = 2

/**
 * Rendezvous hashing of the session, or of the prompt's head, with bounded loads. Every endpoint
 * scores every key, so that one more endpoint takes 1/n of the keys and moves no other (F085).
 */
export function consistentHash(): Policy {
  return {
    name: 'consistent-hash',
    rank(request, candidates) {
      const key = keyOf(request)
      const weights = candidates.map((candidate) => mix(key ^ textHash(candidate.endpoint)))
      const load = inFlightScores(candidates)
      const total = load.reduce((sum, count) => sum + count, 0) + 1
      const bound = Math.ceil((loadFactor * total) / candidates.length)
      const full = (i: number): boolean => load[i]! >= bound
      const order = candidates.map((_, i) => i)
      order.sort((a, b) => Number(full(a)) - Number(full(b)) || weights[b]! - weights[a]!)
      const owner = weights.indexOf(Math.max(...weights))
      const scores = new Array<number>(order.length)
      order.forEach((candidate, place) => {
        scores[candidate] = place
      })
      const summary = order[0] === owner ? 'owner of the key' : 'owner of the key is full'
      return { order, scores, summary }
    },
  }
}

function keyOf(request: RequestView): number {
  if (request.sessionId !== null) return textHash(request.sessionId)
  const { chain } = request
  if (chain.length === 0) return 0
  return chain.lo[Math.min(headBlocks, chain.length) - 1]!
}

/** FNV-1a, 32 bits. */
function textHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

/** Finaliser of MurmurHash3: spreads nearby inputs over 32 bits. */
function mix(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

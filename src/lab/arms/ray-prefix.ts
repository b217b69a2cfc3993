import type { Policy, PolicyContext } from '../../core/policy/policy.ts'
import { inFlightScores, rankByScore, rankWithFirst } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { indexOfLeast } from './load.ts'
import { RememberedPrefixes } from './remembered-prefixes.ts'

const matchShareMin = 0.1

/** The longest match unless queues have drifted apart; then the better of two drawn. */
function rayPrefix(spreadMax: number): Policy {
  // Its eviction is off by default.
  const tree = new RememberedPrefixes(1e8)
  const sentTokens = new Map<number, number>()
  return {
    name: 'ray-prefix',
    rank(request, candidates, context) {
      const load = inFlightScores(candidates)
      if (Math.max(...load) - Math.min(...load) > spreadMax) {
        const two = betterOfTwo(load, context)
        return rankWithFirst(two, candidates, context, 'out of balance, better of two')
      }
      const matched = tree.shares(request, candidates)
      const longest = Math.max(...matched)
      if (longest >= matchShareMin) {
        return rankWithFirst(matched.indexOf(longest), candidates, context, 'longest match')
      }
      const sizes = candidates.map(({ slot }) => sentTokens.get(slot) ?? 0)
      const smallest = indexOfLeast(sizes)
      return rankByScore(
        sizes.map((size, i) => (i === smallest ? -1 : size)),
        context,
        () => 'smallest tree',
      )
    },
    dispatched(request, candidate) {
      tree.dispatched(request, candidate)
      const before = sentTokens.get(candidate.slot) ?? 0
      sentTokens.set(candidate.slot, before + request.promptTokens)
    },
  }
}

function betterOfTwo(load: readonly number[], { random }: PolicyContext): number {
  const one = Math.floor(random.next() * load.length)
  const other = Math.floor(random.next() * load.length)
  return load[one]! <= load[other]! ? one : other
}

export const rayPrefixArm: Arm = {
  name: 'ray-prefix',
  source:
    'Ray Serve PrefixCacheAffinityRouter: queue spread above 10 goes to the better of ' +
    'two, a match of 10 % to its holder, else the smallest tree.',
  variants: [
    { label: 'defaults', policy: () => rayPrefix(10) },
    { label: 'spread 3', policy: () => rayPrefix(3) },
    { label: 'spread 64', policy: () => rayPrefix(64) },
  ],
}

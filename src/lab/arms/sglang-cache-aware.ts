import type { Candidate, Policy, RequestView } from '../../core/policy/policy.ts'
import { inFlightScores, rankByScore, rankWithFirst } from '../../core/policy/rank.ts'
import type { Arm } from './arm.ts'
import { indexOfLeast, matchShare } from './load.ts'
import { RememberedPrefixes } from './remembered-prefixes.ts'

interface Options {
  readonly threshold: number
  /** Affinity ends for the whole pool where the loads differ by more than both of these. */
  readonly balanceAbs: number
  readonly balanceRel: number
  /** Tokens of the router's own tree per worker; null: what the engines really hold. */
  readonly treeTokens: number | null
  readonly host: number
}

/** 67,108,864 characters. */
const treeTokens = 16_777_216
const cli: Options = { threshold: 0.3, balanceAbs: 64, balanceRel: 1.5, treeTokens, host: 0 }

/** The longest match wins if it is long enough and the pool is in balance; else the least busy. */
function cacheAware(options: Options): Policy {
  const tree = options.treeTokens === null ? null : new RememberedPrefixes(options.treeTokens)
  const shares = (request: RequestView, candidates: readonly Candidate[]): number[] =>
    tree?.shares(request, candidates) ??
    candidates.map((one) => matchShare(one, request, options.host))
  return {
    name: 'sglang-cache-aware',
    rank(request, candidates, context) {
      const load = inFlightScores(candidates)
      const most = Math.max(...load)
      const least = Math.min(...load)
      if (most - least > options.balanceAbs && most > options.balanceRel * least) {
        return rankByScore(load, context, () => 'out of balance, least busy')
      }
      const matched = shares(request, candidates)
      const longest = Math.max(...matched)
      if (longest <= options.threshold) return rankByScore(load, context, () => 'least busy')
      // Its tree names the last worker that was sent the prefix; here the least busy of equals.
      const holders = load.map((one, i) => (matched[i] === longest ? one : Infinity))
      return rankWithFirst(indexOfLeast(holders), candidates, context, 'longest match')
    },
    dispatched(request, candidate) {
      tree?.dispatched(request, candidate)
    },
  }
}

const variant = (label: string, changed: Partial<Options>) => ({
  label,
  policy: () => cacheAware({ ...cli, ...changed }),
})

export const sglangCacheAware: Arm = {
  name: 'sglang-cache-aware',
  source:
    'SGLang router and SMG, cache_aware with the defaults of its command line (0.3, 64, ' +
    '1.5, tree of 67,108,864 characters a worker). Of several holders the least busy, not ' +
    'the last.',
  variants: [
    variant('defaults', {}),
    variant('library defaults', { threshold: 0.5, balanceAbs: 32, balanceRel: 1.1 }),
    variant('no balance', { balanceAbs: Infinity }),
    variant('balance 8', { balanceAbs: 8, balanceRel: 1.1 }),
    variant('no balance, true caches', { balanceAbs: Infinity, treeTokens: null }),
    variant('true caches', { treeTokens: null }),
    variant('true caches and host', { treeTokens: null, host: 1 }),
  ],
}

/** All that the field offers, on few seeds; the best go on. */
import type { Metric } from '../measure/compare.ts'
import type { ArmResults } from '../runner/run-arms.ts'
import type { Claim } from './goal.ts'
import { isMeant } from './is-meant.ts'
import { figureOf } from './judge.ts'

const peersKept = 3
/** Two seeds do not tell the best of a group for sure. */
const namedKept = 2

/** Best first; an arm without a figure comes last. */
export function ranked(arms: readonly ArmResults[], by: Metric): ArmResults[] {
  const order = (arm: ArmResults): number => {
    const figure = figureOf(by, arm.runs)
    if (Number.isNaN(figure)) return Infinity
    return by.moreIsBetter ? -figure : figure
  }
  const keyed = arms.map((arm) => ({ arm, key: order(arm) }))
  return keyed.sort((a, b) => a.key - b.key).map(({ arm }) => arm)
}

/** Each arm in its best variant, best arm first. */
export function bestVariants(screened: readonly ArmResults[], by: Metric): ArmResults[] {
  const seen = new Set<string>()
  return ranked(screened, by).filter(({ choice }) => {
    if (seen.has(choice.arm.name)) return false
    seen.add(choice.arm.name)
    return true
  })
}

/** Those that run on all seeds: the best three arms, and of those whom a claim names the best. */
export function finalistsOf(
  screened: readonly ArmResults[],
  by: Metric,
  claims: readonly Claim[],
): ArmResults[] {
  const order = ranked(screened, by)
  const kept = new Set(bestVariants(screened, by).slice(0, peersKept))
  for (const { against } of claims) {
    if (against === undefined || 'peer' in against) continue
    const meant = order.filter((arm) => isMeant(against, arm))
    for (const arm of meant.slice(0, namedKept)) kept.add(arm)
  }
  return order.filter((arm) => kept.has(arm))
}

/** Every goal by its name. */
import { didYouMean } from '../../config/did-you-mean.ts'
import { G4, G4h } from './claude-code-goal.ts'
import { G2, G3 } from './code-generation-goals.ts'
import type { Goal } from './goal.ts'
import { G10 } from './information-goal.ts'
import { G6 } from './mixed-fleet-goal.ts'
import { G9 } from './no-regret-goal.ts'
import { G1 } from './shared-prefix-goal.ts'

export const goals: readonly Goal[] = [G1, G2, G3, G4, G4h, G6, G9, G10]

/**
 * The goals of those names, in any case; `all` is each of them.
 * @throws RangeError that says what there is
 */
export function goalsNamed(names: readonly string[]): Goal[] {
  return names.flatMap((name) => (name === 'all' ? goals : [goalNamed(name)]))
}

function goalNamed(name: string): Goal {
  const goal = goals.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (goal !== undefined) return goal
  const known = goals.map((one) => one.name)
  const meant = didYouMean(name.toUpperCase(), known)
  const hint = meant === null ? `there are ${known.join(', ')} and all` : `did you mean ${meant}?`
  throw new RangeError(`no goal "${name}"; ${hint}`)
}

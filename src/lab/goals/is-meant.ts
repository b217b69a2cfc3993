import type { ArmResults } from '../runner/run-arms.ts'
import type { Against } from './goal.ts'

/** Whether an arm is one of those of which the best is held against the router. */
export function isMeant(against: Against, { name, choice }: ArmResults): boolean {
  const { arm, variant } = choice
  if ('peer' in against) return true
  if ('defaults' in against) return against.defaults === arm.name && variant === arm.variants[0]
  if ('tuned' in against) return against.tuned === arm.name
  if ('bestOf' in against) return against.bestOf.includes(name)
  return 'bestBut' in against && !against.bestBut.includes(name)
}

import type { Arm, ArmVariant } from '../arms/arm.ts'
import { armNamed, variantOf } from '../arms/arms.ts'

/** An arm in one of its variants. */
export interface ArmChoice {
  /** As it was asked for: what tables call it. */
  readonly title: string
  readonly arm: Arm
  readonly variant: ArmVariant
}

/**
 * The arms that a text names: `round-robin,warmpath`, a variant behind a colon as in
 * `sglang:threshold 0.3`, and with `:all` each of an arm's variants.
 * @throws RangeError that says what there is
 */
export function armsOf(text: string): ArmChoice[] {
  return text.split(',').flatMap((part) => {
    const [name = '', label] = part.trim().split(':')
    const arm = armNamed(name)
    if (label === 'all') return arm.variants.map((variant) => choice(arm, variant))
    return [choice(arm, variantOf(arm, label))]
  })
}

function choice(arm: Arm, variant: ArmVariant): ArmChoice {
  const title = variant === arm.variants[0] ? arm.name : `${arm.name}:${variant.label}`
  return { title, arm, variant }
}

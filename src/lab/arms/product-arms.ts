/** The policies that the product ships, as arms. */
import { admissions } from '../../core/admission/registry.ts'
import { policies, policyNames } from '../../core/policy/registry.ts'
import type { Arm, ArmVariant } from './arm.ts'

/** As it is shipped, and its parts by themselves. */
const warmpathVariants: readonly ArmVariant[] = [
  { label: 'defaults', policy: policies.warmpath, admission: admissions['working-set'] },
  { label: 'no admission', policy: policies.warmpath },
]

export const productArms: readonly Arm[] = policyNames.map((name) => ({
  name,
  source: `src/core/policy/${name}.ts`,
  variants:
    name === 'warmpath' ? warmpathVariants : [{ label: 'defaults', policy: policies[name] }],
}))

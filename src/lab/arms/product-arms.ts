/** The policies that the product ships, as arms. */
import { policies, policyNames } from '../../core/policy/registry.ts'
import type { Arm } from './arm.ts'

export const productArms: readonly Arm[] = policyNames.map((name) => ({
  name,
  source: `src/core/policy/${name}.ts`,
  variants: [{ label: 'defaults', policy: policies[name] }],
}))

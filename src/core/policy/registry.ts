/** Every policy by its name: what `--policy` takes. */
import { consistentHash } from './consistent-hash.ts'
import { leastRequest } from './least-request.ts'
import type { Policy } from './policy.ts'
import { powerOfTwo } from './power-of-two.ts'
import { prefixOnly } from './prefix-only.ts'
import { randomPolicy } from './random.ts'
import { roundRobin } from './round-robin.ts'
import { sessionAffinity } from './session-affinity.ts'
import { warmpathPolicy } from './warmpath.ts'

export const policies = {
  warmpath: warmpathPolicy,
  'round-robin': roundRobin,
  random: randomPolicy,
  'least-request': leastRequest,
  'power-of-two': powerOfTwo,
  'session-affinity': sessionAffinity,
  'consistent-hash': consistentHash,
  'prefix-only': prefixOnly,
} as const satisfies Record<string, () => Policy>

export type PolicyName = keyof typeof policies

export const policyNames = Object.keys(policies) as PolicyName[]

/** A policy of the field as the lab runs it: with its defaults, and over a grid for tuning. */
import type { AdmissionFactory } from '../../core/admission/admission.ts'
import type { Policy } from '../../core/policy/policy.ts'

export interface ArmVariant {
  /** `defaults`, or what differs from them: `threshold 0.3`. */
  readonly label: string
  /** A new policy for each run: policies keep state. */
  readonly policy: () => Policy
  /** Who may start and who must wait at the router; left out, nobody waits. */
  readonly admission?: AdmissionFactory
}

export interface Arm {
  /** `llm-d-blend`; what a command line calls it. */
  readonly name: string
  /** Where the rule and its defaults come from. */
  readonly source: string
  /** The first has the defaults, the rest is the grid. */
  readonly variants: readonly ArmVariant[]
}

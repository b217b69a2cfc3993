/** Every admission by its name: what `--admission` takes. */
import type { AdmissionFactory } from './admission.ts'
import { WorkingSet } from './working-set.ts'

export const admissions = {
  'working-set': (learned) => new WorkingSet(learned),
} as const satisfies Record<string, AdmissionFactory>

export type AdmissionName = keyof typeof admissions

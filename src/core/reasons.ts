/** Why a request went where it went, from what the policy ranked. */
import type { EndpointCandidate } from './candidate.ts'
import type { Reasons } from './decisions.ts'
import type { Pool } from './fleet/fleet.ts'
import { limits } from './limits.ts'
import type { Ranking } from './policy/policy.ts'

/** @param note what admission had to say; empty where that was nothing */
export function reasonsOf(
  policy: string,
  note: string,
  pool: Pool,
  candidates: readonly EndpointCandidate[],
  ranking: Ranking,
): Reasons {
  const notes = [pool.lastResort ? 'last resort' : '', note, ranking.summary]
  return {
    policy,
    summary: notes.filter((one) => one !== '').join(': '),
    candidates: ranking.order
      .slice(0, limits.explainedCandidatesMax)
      .map((i) => candidates[i]!.reasons(ranking.scores[i]!)),
    excluded: pool.excluded,
  }
}

import { EngineModel } from '../engine/engine-model.ts'
import type { EngineProfile } from '../engine/profile.ts'
import { blockTokens as labBlockTokens, type WorkloadSession } from '../workload/session.ts'

/**
 * How long a session would take, ms, with its gaps, on an engine that nobody else uses. Null where
 * the engine cannot take one of its turns.
 * @param blockTokens of the session's chains
 */
export function aloneMs(
  session: WorkloadSession,
  profile: EngineProfile,
  blockTokens = labBlockTokens,
): number | null {
  const decodeStepsMax = Number.MAX_SAFE_INTEGER
  const engine = new EngineModel({ ...profile, blockTokens }, { decodeStepsMax })
  const tokensMax = engine.pool.capacityBlocks * blockTokens
  let nowMs = 0
  for (const [id, turn] of session.turns.entries()) {
    const { chain, promptTokens, outputTokens } = turn
    if (promptTokens + outputTokens > tokensMax) return null
    nowMs += turn.gapMs
    const record = engine.submit({ id, chain, promptTokens, outputTokens }, nowMs)
    while (record.finishedMs === undefined) engine.advance()
    nowMs = record.finishedMs
  }
  return nowMs
}

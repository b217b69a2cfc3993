/** A request as it arrives: its session, and what it is expected to be. */
import { blockBytes } from './block-chain.ts'
import type { RequestArrived } from './events.ts'
import type { Learning } from './learning.ts'
import type { OpenRequest } from './open-request.ts'
import type { SessionTable } from './session/session-table.ts'

/** Opens the session where none is known. Nothing is dispatched yet. */
export function recognise(
  event: RequestArrived,
  sessions: SessionTable,
  learning: Learning,
): OpenRequest {
  const { atMs, chain, sessionKey, tenant } = event
  const session = sessions.arrived(atMs, chain, sessionKey, tenant)
  const continuedBlocks = session === null ? 0 : sessions.continuedBlocks(session, chain)
  return {
    arrived: event,
    view: {
      requestId: event.requestId,
      chain,
      promptTokens: learning.promptTokens(event),
      outputTokens: learning.outputTokens(event),
      sessionId: session?.id ?? null,
      sessionEndpoint: session?.lastEndpoint ?? null,
      tenant,
    },
    session,
    arrivedAtMs: atMs,
    continuedTokens: continuedBlocks * blockBytes * learning.tokensPerByte(event.model),
    tried: [],
    attempt: null,
  }
}

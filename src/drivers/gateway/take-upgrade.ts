/** WebSocket upgrades: pinned to an endpoint at the handshake, by the same router as all else. */
import type { Duplex } from 'node:stream'
import { errorCatalogue } from '../../base/errors.ts'
import { emptyChain } from '../../core/block-chain.ts'
import type { ServedRequest } from '../../io/http1-server/served.ts'
import type { Gateway } from './gateway.ts'
import { headersToEngine } from './headers.ts'
import { handleUpgrade, type UpgradeChoice } from './upgrade.ts'

export function takeUpgrade(gateway: Gateway, tracked: Set<Duplex>, served: ServedRequest): void {
  const requestId = gateway.nextRequestId()
  const { socket, head } = served.takeSocket()
  handleUpgrade(served.head, socket, head, {
    choose: (model) => choose(gateway, requestId, model),
    headersFor: (headers) => headersToEngine(headers, { requestId, apiKey: null }),
    tracked,
  })
}

function choose(gateway: Gateway, requestId: string, model: string | null): UpgradeChoice {
  if (gateway.draining) return { status: 503, message: 'The router is stopping. Try another.' }
  const { router, links } = gateway.parts
  const decisions = router.handle({
    type: 'request-arrived',
    atMs: gateway.nowMs(),
    requestId,
    model,
    chain: emptyChain,
    promptBytes: 0,
    maxOutputTokens: null,
    streaming: false,
    sessionKey: null,
    tenant: 'default',
    priorityClass: 'standard',
    pinnedTo: null,
  })
  const decision = decisions[0]!
  if (decision.type === 'dispatch') {
    return {
      endpoint: decision.endpoint,
      pool: links.get(decision.endpoint)!.pool,
      done: (outcome) => {
        gateway.tell({
          type: 'request-ended',
          atMs: gateway.nowMs(),
          requestId,
          outcome,
          phase: 'stream',
          cause: outcome,
          endpointFault: outcome === 'failed',
          usage: { promptTokens: null, outputTokens: null, cachedTokens: null },
          answered: null,
        })
      },
    }
  }
  if (decision.type !== 'refuse') return { status: 503, message: 'No endpoint is free.' }
  return { status: errorCatalogue[decision.code].status, message: decision.message }
}

/** Where requests come in: what each path means, and who takes it from there. */
import { type ErrorCode, errorCatalogue } from '../../base/errors.ts'
import type { RequestHead } from '../../io/http1-server/read-request-head.ts'
import type { RequestReceiver, ServedRequest } from '../../io/http1-server/served.ts'
import { logLines } from '../../observe/log-lines.ts'
import { apiOfPath } from '../../protocol/api.ts'
import { renderErrorBody } from '../../protocol/error-body.ts'
import { type AdminRoute, type AdminView, adminAnswer } from './admin.ts'
import { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { headerOf } from './headers.ts'
import { type ExchangeRoute, routeOf } from './route-of.ts'
import { Upgrade } from './upgrade.ts'

/** For requests that are answered without their body: what comes of it is dropped. */
const unread: RequestReceiver = {
  body() {},
  bodyEnd() {},
  bodyFailed() {},
  drain() {},
  gone() {},
}

export function takeRequest(
  gateway: Gateway,
  view: AdminView,
  served: ServedRequest,
): RequestReceiver {
  const { head } = served
  const route = routeOf(head.method, head.target)
  switch (route.kind) {
    case 'prompt':
    case 'pass':
    case 'stored':
      if (!admits(gateway, served)) return unread
      return isHandshake(head)
        ? new Upgrade(gateway, served).receiver
        : takeExchange(gateway, served, route)
    case 'not-found':
      refuse(served, 'not_found', `Nothing is served at this path with ${head.method}.`)
      return unread
    default:
      answerAdmin(view, route, served).catch((error: unknown) => {
        gateway.parts.log.log(logLines.internalError(null, error))
        refuse(served, 'internal', 'A fault of the router; its log says which.')
      })
      return unread
  }
}

/** An upgrade in a request with a body, or to a prompt, is an offer that need not be taken. */
function isHandshake(head: RequestHead): boolean {
  return head.upgrade !== null && head.method === 'GET' && head.contentLength <= 0 && !head.chunked
}

/** Whether the router takes the request at all; else it is answered. */
function admits(gateway: Gateway, served: ServedRequest): boolean {
  const { metrics, config } = gateway.parts
  if (gateway.draining) {
    metrics.refused('shutting_down')
    refuse(served, 'shutting_down', 'The router is stopping. Try another.')
    return false
  }
  if (gateway.openRequests < config.maxOpenRequests) return true
  metrics.refused('router_overloaded')
  const message = `The router has ${gateway.openRequests} open requests, as many as it may.`
  refuse(served, 'router_overloaded', message)
  return false
}

function takeExchange(
  gateway: Gateway,
  served: ServedRequest,
  route: ExchangeRoute,
): RequestReceiver {
  const exchange = new Exchange(gateway, served, route)
  return exchange.refusesLength(served.head.contentLength) ? unread : exchange
}

async function answerAdmin(
  view: AdminView,
  route: AdminRoute,
  served: ServedRequest,
): Promise<void> {
  const anthropic = headerOf(served.head.headers, 'anthropic-version') !== null
  const { status, contentType, body } = await adminAnswer(route, { anthropic }, view)
  send(served, status, ['content-type', contentType, 'cache-control', 'no-store'], body)
}

function refuse(served: ServedRequest, code: ErrorCode, message: string): void {
  const body = renderErrorBody(apiOfPath(served.head.target), code, message, null)
  const { status, retryable } = errorCatalogue[code]
  const headers = ['content-type', 'application/json']
  if (retryable) headers.push('retry-after', '1')
  send(served, status, headers, body)
}

function send(served: ServedRequest, status: number, headers: string[], text: string): void {
  const body = Buffer.from(text)
  served.begin({ status, reason: '', headers, contentLength: body.length })
  served.write([body], null)
  served.end()
}

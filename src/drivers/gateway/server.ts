/** Where requests come in: what each path means, and who takes it from there. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorCode, errorCatalogue } from '../../base/errors.ts'
import { apiOfPath } from '../../protocol/api.ts'
import { renderErrorBody } from '../../protocol/error-body.ts'
import { type AdminRoute, type AdminView, adminAnswer } from './admin.ts'
import { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { routeOf } from './route-of.ts'

const retryAfter = ['retry-after', '1']

export function takeRequest(
  gateway: Gateway,
  view: AdminView,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  // A client that leaves may break its own request; that is its affair.
  request.on('error', () => {})
  const route = routeOf(request.method!, request.url!)
  switch (route.kind) {
    case 'prompt':
    case 'pass':
    case 'stored-response':
      if (gateway.draining) {
        refuse(request, response, 'shutting_down', 'The router is stopping. Try another.')
      } else if (gateway.openRequests >= gateway.parts.config.maxOpenRequests) {
        const message = `The router has ${gateway.openRequests} open requests, as many as it may.`
        refuse(request, response, 'router_overloaded', message)
      } else {
        new Exchange(gateway, request, response, route).start()
      }
      return
    case 'not-found':
      refuse(request, response, 'not_found', `Nothing is served at ${request.method} this path.`)
      return
    default:
      void answerAdmin(gateway, view, route, request, response)
  }
}

async function answerAdmin(
  gateway: Gateway,
  view: AdminView,
  route: AdminRoute,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const anthropic = request.headers['anthropic-version'] !== undefined
  const { status, contentType, body } = await adminAnswer(route, { anthropic }, view)
  const headers = ['content-type', contentType, 'content-length', String(Buffer.byteLength(body))]
  headers.push('cache-control', 'no-store')
  response.writeHead(status, headers)
  response.end(request.method === 'HEAD' ? undefined : body)
  if (status >= 500 && route.kind === 'models') gateway.parts.metrics.refused('no_endpoint')
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  code: ErrorCode,
  message: string,
): void {
  const body = renderErrorBody(apiOfPath(request.url!), code, message, null)
  const { status, retryable } = errorCatalogue[code]
  const headers = ['content-type', 'application/json']
  headers.push('content-length', String(Buffer.byteLength(body)))
  if (retryable) headers.push(...retryAfter)
  // The body is not read, so nothing else can come on this connection.
  headers.push('connection', 'close')
  response.writeHead(status, headers)
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Answers bytes that are no HTTP request, in HTTP, and closes. */
export function answerBadRequest(gateway: Gateway, code: string, socket: Duplex): void {
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [error, message]: [ErrorCode, string] =
    code === 'HPE_HEADER_OVERFLOW'
      ? ['headers_too_large', 'The headers are larger than the limit (maxHeader).']
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['request_timeout', 'The headers came too slowly (headersTimeout).']
        : ['bad_request', 'The request is not valid HTTP/1.1.']
  gateway.parts.metrics.refused(error)
  const body = renderErrorBody('other', error, message, null)
  const { status } = errorCatalogue[error]
  socket.end(
    `HTTP/1.1 ${status} ${error}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

import { targetPattern, tokenPattern, valuePattern } from './header-bytes.ts'
import type { UpstreamRequest } from './upstream.ts'

/** The caller's request cannot be written as HTTP. The message is for an operator. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest'
}

/** Methods for which no body means an explicit length of zero (RFC 9110 section 8.6). */
const methodsWithBody = new Set(['POST', 'PUT', 'PATCH'])

/**
 * The request's head as latin1, empty line included. Throws BadRequest where a value could break
 * out of its line, or where the caller's own framing headers contradict the body.
 */
export function encodeRequestHead(request: UpstreamRequest, authority: string): string {
  const { method, path, headers } = request
  if (!tokenPattern.test(method) || method === 'CONNECT') throw new BadRequest('malformed method')
  if (!targetPattern.test(path)) throw new BadRequest('malformed path')
  if (headers.length % 2 !== 0) throw new BadRequest('header without a value')
  let head = `${method} ${path} HTTP/1.1\r\n`
  let hostGiven = false
  let lengthGiven = false
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    if (!tokenPattern.test(name)) throw new BadRequest('malformed header name')
    if (!valuePattern.test(value)) throw new BadRequest(`control character in header ${name}`)
    if (isFramingLength(name.length)) {
      const framing = checkFramingHeader(name.toLowerCase(), value, request)
      if (framing === 'host') {
        if (hostGiven) throw new BadRequest('Host given twice')
        hostGiven = true
      } else if (framing === 'content-length') {
        if (lengthGiven) throw new BadRequest('Content-Length given twice')
        lengthGiven = true
      }
    }
    head += `${name}: ${value}\r\n`
  }
  if (!hostGiven) head += `Host: ${authority}\r\n`
  if (!lengthGiven) head += framingLine(request)
  if (request.upgrade !== undefined) head += upgradeLines(request.upgrade)
  return `${head}\r\n`
}

/** Bytes of the body: null without one, -1 for one of unknown length. */
function bodyLength(request: UpstreamRequest): number | null {
  const { body } = request
  if (body === null) return null
  if ('streamedLength' in body) return body.streamedLength ?? -1
  let length = 0
  for (const piece of body) length += piece.length
  return length
}

/** Host 4, upgrade 7, connection and keep-alive 10, content-length 14, transfer-encoding 17. */
function isFramingLength(length: number): boolean {
  return length === 4 || length === 7 || length === 10 || length === 14 || length === 17
}

function checkFramingHeader(name: string, value: string, request: UpstreamRequest): string {
  if (name === 'transfer-encoding' || name === 'connection' || name === 'upgrade') {
    throw new BadRequest(`header ${name} belongs to the connection`)
  }
  if (name === 'content-length' && value !== String(bodyLength(request) ?? 0)) {
    throw new BadRequest('Content-Length differs from the body')
  }
  return name
}

function framingLine(request: UpstreamRequest): string {
  const length = bodyLength(request)
  if (length === null) return methodsWithBody.has(request.method) ? 'Content-Length: 0\r\n' : ''
  return length < 0 ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${length}\r\n`
}

function upgradeLines(protocol: string): string {
  if (!tokenPattern.test(protocol)) throw new BadRequest('malformed upgrade protocol')
  return `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`
}

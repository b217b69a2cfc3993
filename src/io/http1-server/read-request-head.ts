/** One request head, already whole in memory, to its meaning. */
import type { ErrorCode } from '../../base/errors.ts'
import { isName } from '../http1/header-names.ts'
import { parseFieldLines } from '../http1/response-head.ts'

export interface RequestHead {
  readonly method: string
  /** Origin form, with the query: begins with a slash. `*` for an `OPTIONS` of the server. */
  readonly target: string
  /** Flat, as received, names in raw case. */
  readonly headers: readonly string[]
  /** HTTP/1.0 or HTTP/1.1. */
  readonly minor: 0 | 1
  /** The client is content to send another request on this connection. */
  readonly persistent: boolean
  readonly chunked: boolean
  /** -1 without one. */
  readonly contentLength: number
  /** The protocol asked for, in lower case; null when none is. */
  readonly upgrade: string | null
  /** The client waits for a `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean
}

/** The bytes are no request that could be understood in one way only. */
export class BadRequestBytes extends Error {
  override readonly name = 'BadRequestBytes'
  readonly code: ErrorCode

  constructor(message: string, code: ErrorCode = 'bad_request') {
    super(message)
    this.code = code
  }
}

/** No API has others, and bytes left over from a body seldom begin like these. */
const methods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

const targetPattern = /^[\x21\x22\x24-\x7e]+$/
const absoluteForm = /^https?:\/\/[^/?]*/i

/** Reads `buffer[start, end)`, which ends with the empty line; every LF follows a CR. */
export function readRequestHead(buffer: Buffer, start: number, end: number): RequestHead {
  const text = buffer.toString('latin1', start, end)
  const lineEnd = text.indexOf('\r\n')
  const methodEnd = text.indexOf(' ')
  const targetEnd = text.lastIndexOf(' ', lineEnd)
  if (methodEnd < 1 || targetEnd <= methodEnd || targetEnd > lineEnd) {
    throw new BadRequestBytes('malformed request line')
  }
  const method = text.slice(0, methodEnd)
  const version = text.slice(targetEnd + 1, lineEnd)
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') {
    throw new BadRequestBytes('HTTP version is neither 1.0 nor 1.1')
  }
  if (!methods.has(method)) throw new BadRequestBytes('unknown method')
  const target = originForm(method, text.slice(methodEnd + 1, targetEnd))
  const headers: string[] = []
  parseFieldLines(buffer, text, start, start + lineEnd + 2, headers)
  return withFraming(method, target, version === 'HTTP/1.1' ? 1 : 0, headers)
}

function originForm(method: string, target: string): string {
  if (!targetPattern.test(target)) throw new BadRequestBytes('malformed request target')
  if (target.charCodeAt(0) === 0x2f) return target
  if (target === '*' && method === 'OPTIONS') return target
  const authority = absoluteForm.exec(target)?.[0]
  if (authority === undefined) throw new BadRequestBytes('malformed request target')
  const path = target.slice(authority.length)
  return path.startsWith('/') ? path : `/${path}`
}

interface Seen {
  close: boolean
  keepAlive: boolean
  upgradeAsked: boolean
  upgrade: string | null
  chunked: boolean
  contentLength: number
  expectsContinue: boolean
  hosts: number
}

function withFraming(
  method: string,
  target: string,
  minor: 0 | 1,
  headers: readonly string[],
): RequestHead {
  const seen: Seen = {
    close: false,
    keepAlive: false,
    upgradeAsked: false,
    upgrade: null,
    chunked: false,
    contentLength: -1,
    expectsContinue: false,
    hosts: 0,
  }
  for (let i = 0; i < headers.length; i += 2) readHeader(headers[i]!, headers[i + 1]!, seen)
  if (seen.hosts > 1 || (seen.hosts === 0 && minor === 1)) {
    throw new BadRequestBytes('a request has one Host header')
  }
  if (seen.chunked && seen.contentLength >= 0) {
    throw new BadRequestBytes('both Transfer-Encoding and Content-Length')
  }
  if (seen.chunked && minor === 0) throw new BadRequestBytes('Transfer-Encoding in HTTP/1.0')
  return {
    method,
    target,
    headers,
    minor,
    persistent: !seen.close && (minor === 1 || seen.keepAlive),
    chunked: seen.chunked,
    contentLength: seen.contentLength,
    upgrade: seen.upgradeAsked && minor === 1 ? seen.upgrade : null,
    expectsContinue: seen.expectsContinue && minor === 1,
  }
}

/** Told apart by length first: most headers are none of these. */
function readHeader(rawName: string, value: string, seen: Seen): void {
  switch (rawName.length) {
    case 4:
      if (isName(rawName, 'host')) seen.hosts++
      return
    case 6:
      if (isName(rawName, 'expect')) {
        if (value.toLowerCase() !== '100-continue') {
          throw new BadRequestBytes('Expect other than 100-continue')
        }
        seen.expectsContinue = true
      }
      return
    case 7:
      if (isName(rawName, 'upgrade')) seen.upgrade = value.toLowerCase()
      return
    case 10:
      if (isName(rawName, 'connection')) readConnection(value, seen)
      return
    case 14:
      if (isName(rawName, 'content-length')) readContentLength(value, seen)
      return
    case 17:
      if (!isName(rawName, 'transfer-encoding')) return
      if (seen.chunked || value.toLowerCase() !== 'chunked') {
        throw new BadRequestBytes('Transfer-Encoding other than chunked')
      }
      seen.chunked = true
  }
}

function readConnection(value: string, seen: Seen): void {
  for (const option of value.toLowerCase().split(',')) {
    const word = option.trim()
    if (word === 'close') seen.close = true
    else if (word === 'keep-alive') seen.keepAlive = true
    else if (word === 'upgrade') seen.upgradeAsked = true
  }
}

function readContentLength(value: string, seen: Seen): void {
  if (seen.contentLength >= 0) throw new BadRequestBytes('Content-Length given twice')
  const length = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(length)) throw new BadRequestBytes('malformed Content-Length')
  seen.contentLength = length
}

/** One response head, already whole in memory, to its meaning. */
import { tokenBytes, valueBytes } from './header-bytes.ts'
import { hashStart, hashStep, isName, nameAt } from './header-names.ts'
import { http1Limits } from './limits.ts'

export interface ResponseHead {
  readonly status: number
  readonly reason: string
  /** Flat, names in raw case. */
  readonly headers: string[]
  /** Whether the connection may serve another request afterwards, body framing apart. */
  readonly persistent: boolean
  readonly chunked: boolean
  /** -1 without one. */
  readonly contentLength: number
  /** `Keep-Alive: timeout=`, in ms; -1 without one. */
  readonly keepAliveMs: number
}

/** The answer breaks HTTP, or a limit. The message is for an operator. */
export class BadResponse extends Error {
  override readonly name = 'BadResponse'
}

/** A head, or a trailer section, beyond its limit of bytes or lines. */
export class HeadTooLarge extends BadResponse {}

interface Framing {
  close: boolean
  keepAlive: boolean
  chunked: boolean
  contentLength: number
  keepAliveMs: number
}

const CR = 13
const LF = 10
const SPACE = 32
const COLON = 58
const DIGIT_0 = 48

/**
 * Reads `buffer[start, end)`: from `HTTP/` to the empty line, which is included. The caller has
 * checked the prefix `HTTP/1.` and that every LF follows a CR.
 */
export function parseResponseHead(buffer: Buffer, start: number, end: number): ResponseHead {
  const text = buffer.toString('latin1', start, end)
  const minor = buffer[start + 7]! - DIGIT_0
  if ((minor !== 0 && minor !== 1) || buffer[start + 8] !== SPACE) {
    throw new BadResponse('HTTP version is neither 1.0 nor 1.1')
  }
  const status = parseStatus(buffer, start + 9)
  const lineEnd = text.indexOf('\r\n')
  const reason = parseReason(buffer, text, start, lineEnd)
  const headers: string[] = []
  parseFieldLines(buffer, text, start, start + lineEnd + 2, headers)
  const framing = readFraming(headers)
  if (framing.chunked && framing.contentLength >= 0) {
    throw new BadResponse('both Transfer-Encoding and Content-Length')
  }
  if (framing.chunked && minor === 0) throw new BadResponse('Transfer-Encoding in HTTP/1.0')
  const persistent = !framing.close && (minor === 1 || framing.keepAlive)
  const { chunked, contentLength, keepAliveMs } = framing
  return { status, reason, headers, persistent, chunked, contentLength, keepAliveMs }
}

function parseStatus(buffer: Buffer, at: number): number {
  let status = 0
  for (let i = at; i < at + 3; i++) {
    const digit = buffer[i]! - DIGIT_0
    if (!(digit >= 0 && digit <= 9)) throw new BadResponse('status is not three digits')
    status = status * 10 + digit
  }
  const after = buffer[at + 3]
  if (after !== SPACE && after !== CR) throw new BadResponse('status is not three digits')
  if (status < 100) throw new BadResponse('status below 100')
  return status
}

/** The reason, and the space before it, may be missing. */
function parseReason(buffer: Buffer, text: string, start: number, lineEnd: number): string {
  for (let i = start + 12; i < start + lineEnd; i++) {
    if (valueBytes[buffer[i]!] === 0) throw new BadResponse('control character in the reason')
  }
  return text.slice(13, lineEnd)
}

/**
 * Field lines from `at` to the empty line, pushed flat onto `headers`. `text` is the latin1 of the
 * buffer from `textStart` on, so that values are slices of one string.
 */
export function parseFieldLines(
  buffer: Buffer,
  text: string,
  textStart: number,
  at: number,
  headers: string[],
): void {
  let i = at
  while (buffer[i] !== CR) {
    if (headers.length >= 2 * http1Limits.headerLinesMax) throw new HeadTooLarge('too many headers')
    const nameStart = i
    let hash = hashStart
    while (tokenBytes[buffer[i]!] === 1) hash = hashStep(hash, buffer[i++]!)
    if (buffer[i] !== COLON || i === nameStart) throw badName(buffer[nameStart]!)
    const nameEnd = i++
    while (isBlank(buffer[i]!)) i++
    const valueStart = i
    while (valueBytes[buffer[i]!] === 1) i++
    if (buffer[i] !== CR || buffer[i + 1] !== LF) {
      throw new BadResponse('control character in a header value')
    }
    let valueEnd = i
    while (valueEnd > valueStart && isBlank(buffer[valueEnd - 1]!)) valueEnd--
    headers.push(
      nameAt(buffer, nameStart, nameEnd, hash),
      text.slice(valueStart - textStart, valueEnd - textStart),
    )
    i += 2
  }
  // Only the last line can begin with CR: the head ends at its first empty line.
  if (buffer[i + 1] !== LF) throw new BadResponse('bare CR')
}

function badName(first: number): BadResponse {
  return new BadResponse(isBlank(first) ? 'folded header line' : 'malformed header name')
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === 9
}

function readFraming(headers: readonly string[]): Framing {
  const framing: Framing = {
    close: false,
    keepAlive: false,
    chunked: false,
    contentLength: -1,
    keepAliveMs: -1,
  }
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    // The lengths of connection, keep-alive, content-length and transfer-encoding.
    if (name.length !== 10 && name.length !== 14 && name.length !== 17) continue
    readFramingHeader(name, headers[i + 1]!, framing)
  }
  return framing
}

function readFramingHeader(name: string, value: string, framing: Framing): void {
  if (isName(name, 'connection')) {
    for (const option of value.toLowerCase().split(',')) {
      const word = option.trim()
      if (word === 'close') framing.close = true
      else if (word === 'keep-alive') framing.keepAlive = true
    }
  } else if (isName(name, 'content-length')) {
    if (framing.contentLength >= 0) throw new BadResponse('Content-Length given twice')
    framing.contentLength = parseContentLength(value)
  } else if (isName(name, 'transfer-encoding')) {
    if (framing.chunked || value.toLowerCase() !== 'chunked') {
      throw new BadResponse('Transfer-Encoding other than chunked')
    }
    framing.chunked = true
  } else if (isName(name, 'keep-alive')) {
    const seconds = /(?:^|[\s,;])timeout=(\d{1,9})/i.exec(value)?.[1]
    if (seconds !== undefined) framing.keepAliveMs = Number(seconds) * 1000
  }
}

function parseContentLength(value: string): number {
  const length = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(length)) throw new BadResponse('malformed Content-Length')
  return length
}

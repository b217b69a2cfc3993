/** An answer's head and the framing of its body, as bytes. */
import { STATUS_CODES } from 'node:http'
import { isName } from '../http1/header-names.ts'
import type { AnswerHead } from './served.ts'
import { serverLimits } from './server-limits.ts'

/** How the client learns where the body ends. */
export type Framing = 'none' | 'length' | 'chunked' | 'close'

export const lastChunk = Buffer.from('0\r\n\r\n', 'latin1')
export const continueHead = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n', 'latin1')
const lineEnd = Buffer.from('\r\n', 'latin1')

export function framingOf(method: string, minor: 0 | 1, head: AnswerHead): Framing {
  if (method === 'HEAD' || head.status === 204 || head.status === 304) return 'none'
  if (head.contentLength !== null) return 'length'
  return minor === 1 ? 'chunked' : 'close'
}

/** The head with its empty line, as latin1. `date` is used where the head has none. */
export function encodeAnswerHead(
  head: AnswerHead,
  framing: Framing,
  minor: 0 | 1,
  persistent: boolean,
  date: string,
): string {
  const { status, headers, contentLength } = head
  let text = `HTTP/1.1 ${status} ${head.reason || (STATUS_CODES[status] ?? '')}\r\n`
  let dated = false
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    if (isName(name, 'date')) dated = true
    text += `${name}: ${headers[i + 1]}\r\n`
  }
  if (!dated) text += `Date: ${date}\r\n`
  if (contentLength !== null && status !== 204) text += `Content-Length: ${contentLength}\r\n`
  else if (framing === 'chunked') text += 'Transfer-Encoding: chunked\r\n'
  if (!persistent) text += 'Connection: close\r\n'
  else if (minor === 0) text += 'Connection: keep-alive\r\n'
  return `${text}\r\n`
}

/**
 * The pieces to write for `head` (may be empty) and `payload` of `bytes`: one where that is small.
 * A chunk is made of the payload where `chunked`.
 */
export function outgoing(
  head: string,
  payload: readonly Buffer[],
  bytes: number,
  chunked: boolean,
): readonly Buffer[] {
  const before = chunked ? `${head}${bytes.toString(16)}\r\n` : head
  const whole = before.length + bytes + (chunked ? 2 : 0)
  if (whole <= serverLimits.oneWriteBytesMax) {
    const out = Buffer.allocUnsafe(whole)
    let at = out.write(before, 0, 'latin1')
    for (const piece of payload) at += piece.copy(out, at)
    if (chunked) out.write('\r\n', at, 'latin1')
    return [out]
  }
  const pieces = before === '' ? [...payload] : [Buffer.from(before, 'latin1'), ...payload]
  if (chunked) pieces.push(lineEnd)
  return pieces
}

export function byteLength(payload: readonly Buffer[]): number {
  let bytes = 0
  for (const piece of payload) bytes += piece.length
  return bytes
}

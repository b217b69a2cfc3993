/** What a client got: the status line, the body without its framing, and whether it is whole. */
import type { RawClient } from './raw-client.ts'

export interface Seen {
  /** Null when not even a head came. */
  readonly status: number | null
  readonly head: string
  readonly body: string
  /** The body's own end came: its length was reached, or its last chunk. */
  readonly whole: boolean
  /** How the connection ended. */
  readonly how: 'end' | 'reset'
}

/** For a request that asked for the connection to be closed behind its answer. */
export async function seenBy(client: RawClient): Promise<Seen> {
  const { how, text } = await client.over()
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return { status: null, head: text, body: '', whole: false, how }
  const head = text.slice(0, headEnd)
  const rest = text.slice(headEnd + 4)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
  if (/\r\ntransfer-encoding: chunked/i.test(head)) {
    return { status, head, ...unchunked(rest), how }
  }
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
  return { status, head, body: rest, whole: rest.length === length, how }
}

/** The value of a header; null when it is not there. */
export function headerIn(head: string, name: string): string | null {
  return new RegExp(`\\r\\n${name}: ([^\\r]*)`, 'i').exec(head)?.[1] ?? null
}

function unchunked(rest: string): { readonly body: string; readonly whole: boolean } {
  let body = ''
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd < 0) return { body, whole: false }
    const bytes = Number.parseInt(rest.slice(at, lineEnd), 16)
    if (bytes === 0) return { body, whole: rest.slice(lineEnd) === '\r\n\r\n' }
    body += rest.slice(lineEnd + 2, lineEnd + 2 + bytes)
    at = lineEnd + 2 + bytes + 2
  }
}

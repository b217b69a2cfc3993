/** Which headers travel. Bodies are the client's and the engine's; headers are each hop's own. */

import { isName } from '../../io/http1/header-names.ts'

/** RFC 9110, 7.6.1, and what its `Connection` header names besides. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Headers by which routers and pickers steer each other. From a client they would choose an
 * endpoint, a priority or another's cache, so none is passed on.
 */
const internal: ReadonlySet<string> = new Set([
  'x-envoy-original-dst-host',
  'x-prefiller-host-port',
  'x-prefiller-url',
  'x-encoder-hosts-ports',
  'x-data-parallel-host-port',
  'x-data-parallel-rank',
  'x-kv-cache-source-host-port',
  'x-session-token',
])
const internalPrefixes = ['x-warmpath-', 'x-gateway-', 'x-llm-d-']

/** Written anew for the engine. */
const ownToEngine: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'x-request-id',
])

/** What is to be known of a name, worked out once for each spelling. */
interface NameKind {
  readonly lower: string
  readonly toEngine: boolean
  readonly toClient: boolean
}

const kinds = new Map<string, NameKind>()
/** Further names are looked at each time. */
const kindsMax = 1_024
const kindCharsMax = 64

function kindOf(raw: string): NameKind {
  const known = kinds.get(raw)
  if (known !== undefined) return known
  const lower = raw.toLowerCase()
  const travels = !hopByHop.has(lower) && !isInternal(lower)
  const kind = { lower, toEngine: travels && !ownToEngine.has(lower), toClient: travels }
  if (kinds.size < kindsMax && raw.length <= kindCharsMax) kinds.set(raw, kind)
  return kind
}

export interface ToEngine {
  /** Our own id: clients repeat theirs, and engines use it as a key (F108). */
  readonly requestId: string
  /** Replaces the client's `Authorization`; null passes the client's on. */
  readonly apiKey: string | null
  /** The answer is read along: engines are not asked to compress it (F007). */
  readonly observed: boolean
}

/** Flat name, value list for the engine. */
export function headersToEngine(raw: readonly string[], to: ToEngine): string[] {
  const named = namedByConnection(raw)
  const headers: string[] = ['x-request-id', to.requestId]
  if (to.apiKey !== null) headers.push('authorization', `Bearer ${to.apiKey}`)
  for (let i = 0; i < raw.length; i += 2) {
    const { lower, toEngine } = kindOf(raw[i]!)
    if (!toEngine || named?.has(lower)) continue
    if (to.apiKey !== null && lower === 'authorization') continue
    if (to.observed && lower === 'accept-encoding') continue
    headers.push(raw[i]!, raw[i + 1]!)
  }
  return headers
}

export interface AnswerHeaders {
  /** Flat name, value list for the client, without framing. */
  readonly headers: string[]
  readonly contentType: string
  readonly contentLength: number | null
  /** The body is compressed, so it cannot be read along. */
  readonly encoded: boolean
}

/**
 * What of the engine's headers goes to the client. `x-request-id` is the client's own again, where
 * it sent one.
 */
export function headersToClient(
  raw: readonly string[],
  clientRequestId: string | null,
): AnswerHeaders {
  const named = namedByConnection(raw)
  const headers: string[] = []
  let contentType = ''
  let contentLength: number | null = null
  let encoded = false
  for (let i = 0; i < raw.length; i += 2) {
    const { lower, toClient } = kindOf(raw[i]!)
    const value = raw[i + 1]!
    if (!toClient || named?.has(lower)) continue
    if (lower === 'content-length') {
      contentLength = Number(value)
      continue
    }
    if (lower === 'x-request-id') continue
    if (lower === 'content-type') contentType = value
    else if (lower === 'content-encoding') encoded = value.toLowerCase() !== 'identity'
    headers.push(raw[i]!, value)
  }
  if (clientRequestId !== null) headers.push('x-request-id', clientRequestId)
  return { headers, contentType, contentLength, encoded }
}

/** The value of a header; null when it is not there. */
export function headerOf(raw: readonly string[], name: string): string | null {
  for (let i = 0; i < raw.length; i += 2) {
    if (isName(raw[i]!, name)) return raw[i + 1]!
  }
  return null
}

function isInternal(name: string): boolean {
  if (name.charCodeAt(0) !== 0x78) return false
  return internal.has(name) || internalPrefixes.some((prefix) => name.startsWith(prefix))
}

function namedByConnection(raw: readonly string[]): ReadonlySet<string> | null {
  const value = headerOf(raw, 'connection')
  if (value === null || value === 'keep-alive' || value === 'close') return null
  return new Set(value.split(',').map((one) => one.trim().toLowerCase()))
}

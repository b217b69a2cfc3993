/** What the upstream HTTP/1.1 client and its callers say to each other. */
import type { LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Phase } from '../../core/events.ts'

export interface UpstreamRequest {
  readonly method: string
  /** Origin form, with the query. */
  readonly path: string
  /**
   * Flat: name, value, name, value. Free of hop-by-hop headers. `Host` and `Content-Length` are
   * added unless given. A value with CR, LF or NUL fails the request (`bad-request`).
   */
  readonly headers: readonly string[]
  /**
   * Pieces, written without copying; null for none. A `StreamedBody` is fed by `call.write` and
   * `call.endBody`.
   */
  readonly body: readonly Buffer[] | StreamedBody | null
  /**
   * It must not run twice. Where a kept connection dies under a request, nobody can tell the
   * server's idle close from a failure behind the start of the work. So it goes out on a connection
   * that has rested for less than servers wait, or on a new one, and is never sent again unasked.
   */
  readonly once?: boolean
  /** Protocol to upgrade to, `websocket` say; the client then writes `Connection: Upgrade`. */
  readonly upgrade?: string
  /** From connected, or the last piece of a streamed body, to the whole final head; null: none. */
  readonly firstByteTimeoutMs?: number | null
  /** Longest silence within the body; null: none. Time spent paused does not count. */
  readonly idleTimeoutMs?: number | null
}

export interface StreamedBody {
  /** Bytes, when known beforehand; null sends it chunked. */
  readonly streamedLength: number | null
}

/**
 * Told in this order, and never before `send` has returned; `end`, `error` or `upgrade` comes last
 * and once. Nothing comes after `abort()`.
 */
export interface UpstreamHandler {
  /** Once, or twice when a reused socket turned out dead and the request goes out afresh. */
  connected(reused: boolean): void
  /** The final head, after any 1xx was skipped. `headers` flat as received, names in raw case. */
  headers(status: number, headers: readonly string[], reason: string): void
  /**
   * `payload`: decoded body bytes of one read, in order, none empty; the receiver may keep them.
   * `raw`: where that read was made of whole chunks of a chunked body, those very bytes with their
   * framing (never the last chunk, never extensions), fit to be written on unchanged; else null.
   */
  body(payload: readonly Buffer[], raw: Buffer | null): void
  /** `trailers` flat, like headers. */
  end(trailers: readonly string[]): void
  error(failure: UpstreamFailure): void
  /** A streamed body may go on: connected, or the socket drained after `write` said false. */
  drain?(): void
  /**
   * Answered 101: the socket is the receiver's now, paused, with its errors to be listened to and
   * its halves ending separately. `head` was read behind the answer's head.
   */
  upgrade?(socket: Duplex, head: Buffer, headers: readonly string[]): void
}

/** Bounded words: they become labels. */
export type UpstreamFailureCause =
  /** Nobody listens there. */
  | 'refused'
  /** No route, or no local port left. */
  | 'unreachable'
  /** The name does not resolve. */
  | 'dns'
  /** Handshake or certificate. */
  | 'tls'
  | 'connect-timeout'
  /** `connectionsMax` reached. */
  | 'too-many-connections'
  /** The caller's request cannot be written as HTTP. */
  | 'bad-request'
  | 'reset'
  /** Closed in good order, but before the answer was whole. */
  | 'closed'
  /** The answer is not HTTP/1.x, ambiguous, or beyond a limit. */
  | 'bad-response'
  | 'first-byte-timeout'
  | 'idle-timeout'
  /** `pool.close()` while it ran. */
  | 'pool-closed'

/** `body` also stands for streams: only the caller knows which it is. */
export type UpstreamPhase = Exclude<Phase, 'stream'>

export interface UpstreamFailure {
  readonly phase: UpstreamPhase
  readonly cause: UpstreamFailureCause
  /** The request went out on a socket that had served another before. */
  readonly reusedSocket: boolean
  /**
   * A reused socket closed before any byte of the answer, soon after the request: the server's idle
   * close crossed it. Safe to send again; the client did so once itself where it had the body.
   */
  readonly reusedSocketDied: boolean
  /** Whether any byte of the request may have reached the server. */
  readonly bytesSent: boolean
  /** Whether any byte of an answer came. */
  readonly responseBytes: boolean
  /** For an operator, in words; bounded in length, free of control characters. */
  readonly detail: string
}

export interface UpstreamCall {
  /** Whether all of the body has left for the kernel: nothing refers to its memory any more. */
  readonly bodyTaken: boolean
  /** Destroys the socket at once: the server sees the disconnect. Harmless after the end. */
  abort(): void
  /** Stops reading. What the current read still holds, the end included, is told all the same. */
  pause(): void
  resume(): void
  /** Replaces both timeouts, counted from the same starts as before; null for none. */
  setTimeouts(firstByteMs: number | null, idleMs: number | null): void
  /**
   * The next piece of a streamed body. False asks to wait for `drain` (a piece given is kept all
   * the same). Ignored after the end.
   */
  write(piece: Buffer): boolean
  /** Ends a streamed body. */
  endBody(): void
}

export interface UpstreamOptions {
  readonly connectTimeoutMs?: number
  /** Longest rest of a pooled socket. Below uvicorn's 5 s, which closes at exactly that. */
  readonly idleSocketMs?: number
  /** Open sockets, busy and idle. Engines queue for themselves, so this only guards the router. */
  readonly connectionsMax?: number
  /** Bytes of one head, status line and trailers included. */
  readonly headBytesMax?: number
  readonly tls?: UpstreamTlsOptions
  /** Resolves the host's name; left out, the system does. */
  readonly lookup?: LookupFunction
}

export interface UpstreamTlsOptions {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
}

/** Counts since the pool was made, but `open` and `idle`, which are now. */
export interface UpstreamStats {
  readonly open: number
  readonly idle: number
  readonly opened: number
  readonly reused: number
  /** Requests sent again because a reused socket had died. */
  readonly resent: number
  /** Idle sockets that the server closed first. Should stay near zero. */
  readonly closedByServerWhileIdle: number
}

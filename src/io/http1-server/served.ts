/** What the HTTP/1.1 server and whoever answers its requests say to each other. */
import type { Socket } from 'node:net'
import type { ErrorCode } from '../../base/errors.ts'
import type { RequestHead } from './read-request-head.ts'

/**
 * Told in this order: `body`…, then `bodyEnd` or `bodyFailed`; `gone` comes last, at any time, and
 * once. Nothing comes after the answer was ended or broken off.
 */
export interface RequestReceiver {
  /** The next decoded bytes of the body, none empty. They are good until it returns. */
  body(piece: Buffer): void
  bodyEnd(): void
  /** The body is malformed or too slow. It may still be answered; then the socket closes. */
  bodyFailed(code: ErrorCode, message: string): void
  /** The client took what was written: after `write` said false. */
  drain(): void
  /** The client left, or takes nothing, before the answer was whole. No more can be answered. */
  gone(why: GoneReason): void
}

/** Bounded words: they become labels. */
export type GoneReason = 'closed' | 'reset' | 'stalled'

export interface AnswerHead {
  readonly status: number
  /** May be empty. */
  readonly reason: string
  /**
   * Flat: name, value, …; free of hop-by-hop headers and of `Content-Length`. Values are written as
   * they are: they must come from a parsed message or from the program.
   */
  readonly headers: readonly string[]
  /** Bytes of the body; null when only its end will tell. */
  readonly contentLength: number | null
}

/** One request and its answer. After `gone` every call is harmless. */
export interface ServedRequest {
  readonly head: RequestHead
  /** Whether all of the request's body has come. */
  readonly complete: boolean
  /** Whether the answer's head was given: from then on the status cannot change. */
  readonly begun: boolean
  /** The client is gone, or everything was said. */
  readonly over: boolean
  /** Stops and goes on reading the body. */
  pauseBody(): void
  resumeBody(): void
  /** The head goes out with the first bytes of the body, or with the end of the present turn. */
  begin(head: AnswerHead): void
  /**
   * `raw`, where given, is `payload` in whole chunks; it is written as it is where the answer is
   * chunked. False: write no more until `drain`.
   */
  write(payload: readonly Buffer[], raw: Buffer | null): boolean
  end(): void
  /**
   * Ends an answer that is not whole so that the client can tell: after the last words, if any, the
   * connection closes without the body's proper end.
   */
  break(lastWords: Buffer | null): void
  /** Gives the connection away, its answer unwritten. `head`: bytes from behind the request. */
  takeSocket(): { readonly socket: Socket; readonly head: Buffer }
}

export interface ServerOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly headBytesMax: number
  /** From the first byte of a head to its last; also for the first byte of a connection. */
  readonly headTimeoutMs: number
  /** Longest silence within a body. Time spent paused does not count. */
  readonly bodyTimeoutMs: number
  /** How long an idle connection is kept. */
  readonly keepAliveMs: number
  /** How long a client may take nothing of what waits for it. */
  readonly stalledMs: number
  readonly connectionsMax: number
  readonly onRequest: (request: ServedRequest) => RequestReceiver
  /** What is answered to bytes that are no request: a JSON body. */
  readonly errorBody: (code: ErrorCode, message: string) => string
}

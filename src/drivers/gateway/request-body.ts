/** Reads a request's body within its limits: size, and silence. */
import type { IncomingMessage } from 'node:http'
import type { Scheduler } from '../../base/scheduler.ts'

export interface BodyLimits {
  readonly maxBodyBytes: number
  readonly bodyTimeoutMs: number
}

export type BodyOutcome =
  | { readonly ok: true; readonly body: Buffer }
  | { readonly ok: false; readonly why: 'too-large' | 'too-slow' | 'client-gone' }

const emptyBody = Buffer.alloc(0)

/** Calls `done` once. A body that came in one piece is not copied. */
export function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  scheduler: Scheduler,
  done: (outcome: BodyOutcome) => void,
): void {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limits.maxBodyBytes) {
    done({ ok: false, why: 'too-large' })
    return
  }
  const pieces: Buffer[] = []
  let bytes = 0
  let over = false
  let heardMs = scheduler.nowMs()
  let cancelCheck: (() => void) | null = null
  const finish = (outcome: BodyOutcome): void => {
    if (over) return
    over = true
    cancelCheck?.()
    request.off('data', onData)
    done(outcome)
  }
  const check = (): void => {
    const quietMs = scheduler.nowMs() - heardMs
    if (quietMs >= limits.bodyTimeoutMs) finish({ ok: false, why: 'too-slow' })
    else cancelCheck = scheduler.at(heardMs + limits.bodyTimeoutMs, check)
  }
  const onData = (piece: Buffer): void => {
    bytes += piece.length
    if (bytes > limits.maxBodyBytes) {
      finish({ ok: false, why: 'too-large' })
      return
    }
    pieces.push(piece)
    // Most bodies are there in one tick; only the others need a timer.
    heardMs = scheduler.nowMs()
    cancelCheck ??= scheduler.at(heardMs + limits.bodyTimeoutMs, check)
  }
  request.on('data', onData)
  request.on('end', () => {
    if (pieces.length === 0) finish({ ok: true, body: emptyBody })
    else if (pieces.length === 1) finish({ ok: true, body: pieces[0]! })
    else finish({ ok: true, body: Buffer.concat(pieces, bytes) })
  })
  request.on('close', () => finish({ ok: false, why: 'client-gone' }))
}

/**
 * An engine's error that comes after the client was already promised an event stream: its body is
 * gathered, and told as an event.
 */
import type { ErrorCode } from '../../base/errors.ts'
import type { Api } from '../../protocol/api.ts'
import { renderErrorEvent } from '../../protocol/error-body.ts'

/** Of a longer error the status has to do. */
const bodyBytesMax = 65_536

export class LateError {
  readonly status: number
  readonly #pieces: Buffer[] = []
  #bytes = 0

  constructor(status: number) {
    this.status = status
  }

  push(payload: readonly Buffer[]): void {
    for (const piece of payload) {
      this.#bytes += piece.length
      if (this.#bytes <= bodyBytesMax) this.#pieces.push(piece)
    }
  }

  /** The engine's own message where it can be found. */
  event(api: Api, requestId: string): string {
    const code: ErrorCode = this.status < 500 ? 'bad_request' : 'upstream_broken'
    const said = messageIn(Buffer.concat(this.#pieces).toString())
    return renderErrorEvent(api, code, said ?? `The engine answered ${this.status}.`, requestId)
  }
}

function messageIn(body: string): string | null {
  try {
    const parsed = JSON.parse(body) as Record<string, unknown> | null
    const error = parsed?.error
    const nested = typeof error === 'object' ? (error as Record<string, unknown>)?.message : error
    const said = nested ?? parsed?.message ?? parsed?.detail
    return typeof said === 'string' ? said : null
  } catch {
    return null
  }
}

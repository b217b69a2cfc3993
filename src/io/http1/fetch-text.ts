import type { Scheduler } from '../../base/scheduler.ts'
import type { UpstreamFailure } from './upstream.ts'
import type { UpstreamPool } from './upstream-pool.ts'

export interface FetchTextOptions {
  readonly method?: string
  /** Flat: name, value, … */
  readonly headers?: readonly string[]
  readonly body?: string
  /** For all of it, from the call to the last byte. */
  readonly timeoutMs: number
  /** Longest body taken; a longer one fails. */
  readonly bytesMax: number
}

export interface FetchedText {
  readonly status: number
  /** Names in lower case; the values of a repeated one joined by `, `. */
  readonly headers: ReadonlyMap<string, string>
  /** UTF-8, whatever the engine says. */
  readonly text: string
}

/** The answer did not come whole. `message` is for an operator: `connection refused`, say. */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed'
  readonly failure: UpstreamFailure | null

  /** `failure` is null where it was time or size that ran out. */
  constructor(message: string, failure: UpstreamFailure | null) {
    super(message)
    this.failure = failure
  }
}

const causeInWords: Partial<Record<UpstreamFailure['cause'], string>> = {
  refused: 'connection refused',
  unreachable: 'host unreachable',
  dns: 'name does not resolve',
  tls: 'TLS handshake failed',
  'connect-timeout': 'connect timed out',
  reset: 'connection reset',
  closed: 'connection closed before the answer was whole',
}

/**
 * Asks for a small text or JSON document. Any status resolves; rejects with FetchFailed. Redirects
 * are not followed: an engine has none, and following one would leave the configured host.
 */
export function fetchText(
  pool: UpstreamPool,
  path: string,
  options: FetchTextOptions,
  scheduler: Scheduler,
): Promise<FetchedText> {
  const { promise, resolve, reject } = Promise.withResolvers<FetchedText>()
  const pieces: Buffer[] = []
  let bytes = 0
  let status = 0
  let headers: ReadonlyMap<string, string> = new Map()
  const fail = (message: string, failure: UpstreamFailure | null): void => {
    cancelTimeout()
    call.abort()
    reject(new FetchFailed(message, failure))
  }
  const cancelTimeout = scheduler.at(scheduler.nowMs() + options.timeoutMs, () => {
    fail(`no whole answer within ${options.timeoutMs} ms`, null)
  })
  const call = pool.send(
    {
      method: options.method ?? 'GET',
      path,
      headers: options.headers ?? [],
      body: options.body === undefined ? null : [Buffer.from(options.body)],
    },
    {
      connected() {},
      headers(answerStatus, flat) {
        status = answerStatus
        headers = headerMap(flat)
      },
      body(payload) {
        for (const piece of payload) {
          pieces.push(piece)
          bytes += piece.length
        }
        if (bytes > options.bytesMax) fail(`answer longer than ${options.bytesMax} bytes`, null)
      },
      end() {
        cancelTimeout()
        resolve({ status, headers, text: Buffer.concat(pieces, bytes).toString('utf8') })
      },
      error(failure) {
        fail(causeInWords[failure.cause] ?? failure.detail, failure)
      },
    },
  )
  return promise
}

function headerMap(flat: readonly string[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase()
    const before = map.get(name)
    map.set(name, before === undefined ? flat[i + 1]! : `${before}, ${flat[i + 1]}`)
  }
  return map
}

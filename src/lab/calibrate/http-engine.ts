/** An engine behind an OpenAI-compatible API, streamed to for a calibration. */
import type { Scheduler } from '../../base/scheduler.ts'
import type { UpstreamCall } from '../../io/http1/upstream.ts'
import type { UpstreamPool } from '../../io/http1/upstream-pool.ts'
import { type AnswerReader, answerReader } from '../../protocol/answer-reader.ts'
import { CallFailed, type CallSample, type EngineCall } from './engine-under-test.ts'

/** How requests are put. */
export interface Dialect {
  readonly api: 'chat' | 'completions'
  /** Whether the engine takes `ignore_eos`, so that answers have the length asked for. */
  readonly ignoreEos: boolean
}

export interface HttpEngineOptions {
  readonly pool: UpstreamPool
  readonly scheduler: Scheduler
  readonly model: string
  readonly headers: readonly string[]
  readonly dialect: Dialect
  /** For one call, from the sending to the end. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const paths = { chat: '/v1/chat/completions', completions: '/v1/completions' } as const
/** Of a refusal's body, as much as a message needs. */
const refusalBytesMax = 300

export class HttpEngine {
  readonly #options: HttpEngineOptions

  constructor(options: HttpEngineOptions) {
    this.#options = options
  }

  call(call: EngineCall): Promise<CallSample> {
    return new OpenCall(this.#options, call).done
  }
}

class OpenCall {
  readonly done: Promise<CallSample>
  readonly #resolve: (sample: CallSample) => void
  readonly #reject: (error: CallFailed) => void
  readonly #scheduler: Scheduler
  readonly #sentMs: number
  readonly #outputMs: number[] = []
  readonly #call: UpstreamCall
  readonly #stop: () => void
  #reader: AnswerReader | null = null
  #status = 0
  #refusal = ''

  constructor(options: HttpEngineOptions, call: EngineCall) {
    const { pool, scheduler, model, headers, dialect, timeoutMs, signal } = options
    const { promise, resolve, reject } = Promise.withResolvers<CallSample>()
    this.done = promise
    this.#resolve = resolve
    this.#reject = reject
    this.#scheduler = scheduler
    const body = Buffer.from(JSON.stringify(requestBody(model, dialect, call)))
    this.#sentMs = scheduler.nowMs()
    this.#call = pool.send(
      {
        method: 'POST',
        path: paths[dialect.api],
        headers: ['Content-Type', 'application/json', ...headers],
        body: [body],
        firstByteTimeoutMs: timeoutMs,
        idleTimeoutMs: timeoutMs,
      },
      {
        connected() {},
        headers: (status, flat) => this.#headers(status, flat, dialect.api),
        body: (payload) => this.#body(payload),
        end: () => this.#end(),
        error: ({ detail }) => this.#fail(detail),
      },
    )
    const aborted = (): void => this.#fail('stopped')
    const cancelTimeout = scheduler.at(this.#sentMs + timeoutMs, () => {
      this.#fail(`no whole answer within ${Math.round(timeoutMs / 1_000)} s`)
    })
    this.#stop = () => {
      cancelTimeout()
      signal.removeEventListener('abort', aborted)
    }
    signal.addEventListener('abort', aborted)
    if (signal.aborted) aborted()
  }

  #headers(status: number, flat: readonly string[], api: Dialect['api']): void {
    this.#status = status
    const at = flat.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-type')
    this.#reader = answerReader(api, at < 0 ? '' : flat[at + 1], status, null)
  }

  #body(payload: readonly Buffer[]): void {
    const atMs = this.#scheduler.nowMs() - this.#sentMs
    const reader = this.#reader!
    if (this.#status !== 200) {
      if (this.#refusal.length > refusalBytesMax) return
      for (const piece of payload) this.#refusal += piece.toString('utf8')
      return
    }
    for (const piece of payload) reader.push(piece)
    while (this.#outputMs.length < reader.outputEvents) this.#outputMs.push(atMs)
  }

  #end(): void {
    const reader = this.#reader!
    reader.end()
    if (this.#status !== 200) {
      const said = this.#refusal.slice(0, refusalBytesMax).replaceAll(/\s+/g, ' ')
      this.#fail(`status ${this.#status}: ${said}`)
      return
    }
    const { usage, errorEvent } = reader
    if (errorEvent !== null || !reader.complete) {
      this.#fail(errorEvent ?? 'the answer broke off')
    } else if (usage.promptTokens === null || usage.outputTokens === null) {
      this.#fail('the answer does not say how many tokens it took (stream_options.include_usage)')
    } else {
      this.#stop()
      // A token may have no text, as a special one or half a character has none.
      if (this.#outputMs.length === 0) this.#outputMs.push(this.#scheduler.nowMs() - this.#sentMs)
      this.#resolve({
        promptTokens: usage.promptTokens,
        cachedTokens: usage.cachedTokens,
        outputTokens: usage.outputTokens,
        sentMs: this.#sentMs,
        outputMs: this.#outputMs,
      })
    }
  }

  #fail(message: string): void {
    this.#stop()
    this.#call.abort()
    this.#reject(new CallFailed(message, this.#status >= 300 ? this.#status : null))
  }
}

function requestBody(model: string, dialect: Dialect, call: EngineCall): object {
  const { prompt, outputTokens } = call
  return {
    model,
    ...(dialect.api === 'chat' ? { messages: [{ role: 'user', content: prompt }] } : { prompt }),
    max_tokens: outputTokens,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
    ...(dialect.ignoreEos ? { ignore_eos: true } : {}),
  }
}

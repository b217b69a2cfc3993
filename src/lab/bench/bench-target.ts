import type { Scheduler } from '../../base/scheduler.ts'
import { UpstreamPool } from '../../io/http1/upstream-pool.ts'
import { splitUrl } from './bench-target-url.ts'
import type { BenchTurn } from './bench-task.ts'

export type BenchApi = 'chat' | 'completions'

export interface TargetOptions {
  readonly url: string
  readonly model: string
  readonly api: BenchApi
  readonly stream: boolean
  /** Goes as a bearer token; null for none. */
  readonly apiKey: string | null
  /** Flat: name, value, … */
  readonly headers: readonly string[]
  /** Ask for exactly the output tokens, in vLLM's and SGLang's way. */
  readonly ignoreEos: boolean
  /** Calls at once; beyond it calls are not sent, and count as misses. */
  readonly inFlightMax: number
}

/** One server under load: its connections, and what a call to it looks like. */
export class BenchTarget {
  readonly url: string
  readonly inFlightMax: number
  readonly pool: UpstreamPool
  readonly path: string
  readonly headers: readonly string[]
  readonly #options: TargetOptions

  constructor(options: TargetOptions, scheduler: Scheduler) {
    const { origin, base } = splitUrl(options.url)
    this.#options = options
    this.url = options.url
    this.inFlightMax = options.inFlightMax
    this.pool = new UpstreamPool(origin, { connectionsMax: options.inFlightMax }, scheduler)
    this.path = `${base}/${options.api === 'chat' ? 'chat/completions' : 'completions'}`
    this.headers = ['content-type', 'application/json', ...authorized(options)]
  }

  get api(): BenchApi {
    return this.#options.api
  }

  bodyOf(turn: BenchTurn): Buffer {
    const { api, model, stream, ignoreEos } = this.#options
    const messages = turn.messages()
    const prompt =
      api === 'chat' ? { messages } : { prompt: messages.map(({ content }) => content).join('\n') }
    const body = {
      model,
      ...prompt,
      max_tokens: turn.outputTokens,
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
      ...(ignoreEos ? { ignore_eos: true } : {}),
    }
    return Buffer.from(JSON.stringify(body))
  }

  close(): void {
    this.pool.close()
  }
}

/** Headers for any request to it. */
export function authorized({
  apiKey,
  headers,
}: Pick<TargetOptions, 'apiKey' | 'headers'>): string[] {
  return apiKey === null ? [...headers] : [...headers, 'authorization', `Bearer ${apiKey}`]
}

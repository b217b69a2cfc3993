/** An engine's service endpoints in a test's hands: what each path answers, and when. */
import type { FetchedText, FetchTextOptions } from '../../src/io/http1/fetch-text.ts'
import { FetchFailed } from '../../src/io/http1/fetch-text.ts'
import type { UpstreamFailureCause } from '../../src/io/http1/upstream.ts'
import type { EngineFetch } from '../../src/sources/engine-fetch.ts'
import type { ManualScheduler } from './manual-scheduler.ts'

export interface ScriptedAnswer {
  readonly status?: number
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly delayMs?: number
}

export class ScriptedEngine {
  /** By path; a path that is missing answers 404. */
  readonly answers = new Map<string, ScriptedAnswer>()
  /** Every request so far: path, time and headers. */
  readonly asked: { path: string; atMs: number; headers: readonly string[] }[] = []
  /** Set while nobody listens, or connections break. */
  failure: UpstreamFailureCause | null = null
  readonly #scheduler: ManualScheduler

  constructor(scheduler: ManualScheduler) {
    this.#scheduler = scheduler
  }

  readonly fetch: EngineFetch = (path, options) => {
    this.asked.push({ path, atMs: this.#scheduler.nowMs(), headers: options.headers ?? [] })
    return new Promise((resolve, reject) => this.#answer(path, options, resolve, reject))
  }

  count(path: string): number {
    return this.asked.filter((one) => one.path === path).length
  }

  #answer(
    path: string,
    options: FetchTextOptions,
    resolve: (answer: FetchedText) => void,
    reject: (error: FetchFailed) => void,
  ): void {
    if (this.failure !== null) {
      reject(new FetchFailed(this.failure, failureOf(this.failure)))
      return
    }
    const { status, text, headers, delayMs } = this.answers.get(path) ?? { status: 404 }
    const answer: FetchedText = {
      status: status ?? 200,
      text: text ?? '',
      headers: new Map(Object.entries(headers ?? {})),
    }
    const late = (delayMs ?? 0) > options.timeoutMs
    const atMs = this.#scheduler.nowMs() + Math.min(delayMs ?? 0, options.timeoutMs)
    const message = `no whole answer within ${options.timeoutMs} ms`
    this.#scheduler.at(atMs, () =>
      late ? reject(new FetchFailed(message, null)) : resolve(answer),
    )
  }
}

function failureOf(cause: UpstreamFailureCause): FetchFailed['failure'] {
  return {
    phase: 'connect',
    cause,
    reusedSocket: false,
    reusedSocketDied: false,
    bytesSent: false,
    responseBytes: false,
    detail: cause,
  }
}

/** A vLLM server as its service endpoints show it. */
export function vllmAnswers(facts: {
  readonly startedAt: number
  readonly running?: number
  readonly queriedTokens?: number
}): Map<string, ScriptedAnswer> {
  const { startedAt, running = 0, queriedTokens = 0 } = facts
  const labels = 'engine="0",model_name="m"'
  const page = [
    `vllm:num_requests_running{${labels}} ${running}`,
    `vllm:num_requests_waiting{${labels}} 0`,
    `vllm:kv_cache_usage_perc{${labels}} 0.25`,
    `vllm:prefix_cache_queries_total{${labels}} ${queriedTokens}`,
    `vllm:cache_config_info{block_size="16",num_gpu_blocks="1000",enable_prefix_caching="True"} 1`,
    `process_start_time_seconds ${startedAt}`,
    '',
  ].join('\n')
  const models = { data: [{ id: 'm', owned_by: 'vllm', max_model_len: 4096 }] }
  return new Map<string, ScriptedAnswer>([
    ['/health', {}],
    ['/v1/models', { text: JSON.stringify(models) }],
    ['/version', { text: '{"version":"0.32.0"}' }],
    ['/metrics', { text: page }],
  ])
}

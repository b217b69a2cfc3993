import type { RequestProgress, StepSample } from '../engine/engine-report.ts'
import type { RequestRecord } from '../engine/request.ts'
import { Histogram, tokenBuckets } from './histogram.ts'

const ttftBuckets = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
  160, 640, 2560,
]
const itlBuckets = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
]
const requestBuckets = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
]
const iterationBuckets = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]
const lengthBuckets = tokenBuckets(200_000)

/** The engine's latency and length histograms, named and bounded as vLLM's, in seconds. */
export class EngineHistograms {
  readonly byName = {
    request_prompt_tokens: new Histogram(lengthBuckets),
    request_generation_tokens: new Histogram(lengthBuckets),
    iteration_tokens_total: new Histogram(iterationBuckets),
    request_params_max_tokens: new Histogram(lengthBuckets),
    time_to_first_token_seconds: new Histogram(ttftBuckets),
    inter_token_latency_seconds: new Histogram(itlBuckets),
    request_time_per_output_token_seconds: new Histogram(itlBuckets),
    e2e_request_latency_seconds: new Histogram(requestBuckets),
    request_queue_time_seconds: new Histogram(requestBuckets),
    request_inference_time_seconds: new Histogram(requestBuckets),
    request_prefill_time_seconds: new Histogram(requestBuckets),
    request_decode_time_seconds: new Histogram(requestBuckets),
    request_prefill_kv_computed_tokens: new Histogram(lengthBuckets),
  }
  readonly #lastTokenMs = new Map<RequestRecord['id'], number>()

  addRequest(maxTokens: number): void {
    this.byName.request_params_max_tokens.observe(maxTokens)
  }

  addStep({ work }: StepSample): void {
    this.byName.iteration_tokens_total.observe(work.prefillTokens + work.decodes)
  }

  addProgress({ record, finished, atMs }: RequestProgress): void {
    const lastMs = this.#lastTokenMs.get(record.id)
    if (lastMs === undefined) {
      this.byName.time_to_first_token_seconds.observe((atMs - record.submittedMs) / 1000)
    } else {
      this.byName.inter_token_latency_seconds.observe((atMs - lastMs) / 1000)
    }
    if (!finished) {
      this.#lastTokenMs.set(record.id, atMs)
      return
    }
    this.#lastTokenMs.delete(record.id)
    this.#addFinished(record)
  }

  /** A request that was aborted leaves no trace, as in vLLM. */
  forget(id: RequestRecord['id']): void {
    this.#lastTokenMs.delete(id)
  }

  #addFinished(record: RequestRecord): void {
    const { submittedMs, queuedMs, promptTokens, generatedTokens } = record
    const finishedMs = record.finishedMs as number
    const startedMs = record.startedMs as number
    const firstMs = record.firstTokenMs as number
    const { byName } = this
    byName.request_prompt_tokens.observe(promptTokens)
    byName.request_generation_tokens.observe(generatedTokens)
    byName.e2e_request_latency_seconds.observe((finishedMs - submittedMs) / 1000)
    byName.request_queue_time_seconds.observe((startedMs - queuedMs) / 1000)
    byName.request_inference_time_seconds.observe((finishedMs - startedMs) / 1000)
    byName.request_prefill_time_seconds.observe((firstMs - startedMs) / 1000)
    byName.request_decode_time_seconds.observe((finishedMs - firstMs) / 1000)
    const perToken = (finishedMs - firstMs) / Math.max(1, generatedTokens - 1)
    byName.request_time_per_output_token_seconds.observe(perToken / 1000)
    const cached = record.cachedGpuTokens + record.cachedHostTokens
    byName.request_prefill_kv_computed_tokens.observe(promptTokens - cached)
  }
}

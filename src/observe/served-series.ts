import type { Outcome, Usage } from '../core/events.ts'
import { BucketHistogram } from './bucket-histogram.ts'
import type { MetricEntry, MetricName } from './metric-catalogue.ts'
import { metricCatalogue } from './metric-catalogue.ts'
import type { Sample } from './tally.ts'
import { Tally } from './tally.ts'

export interface ServedEnd {
  readonly outcome: Outcome | 'refused'
  /** HTTP status that the client got; null when it was gone before. */
  readonly status: number | null
  readonly e2eMs: number
  readonly usage: Usage
  /** Null when no prediction was made. */
  readonly predictedCachedTokens: number | null
}

/** Kinds of outcome times HTTP status codes. */
const endRowsMax = 64

/**
 * All that is measured for one model on one endpoint. Looked up once per request and then held, so
 * that counting a token costs a few nanoseconds.
 */
export class ServedSeries {
  readonly #labels: Readonly<Record<'model' | 'endpoint', string>>
  readonly #ends = new Tally(['outcome', 'code'], endRowsMax)
  readonly #ttft = histogramOf('warmpath_time_to_first_token_seconds')
  readonly #itl = histogramOf('warmpath_inter_token_latency_seconds')
  readonly #e2e = histogramOf('warmpath_e2e_request_latency_seconds')
  readonly #queueWait = histogramOf('warmpath_queue_wait_seconds')
  readonly #ttftRatio = histogramOf('warmpath_ttft_actual_over_predicted')
  #attempts = 0
  #promptTokens = 0
  #outputTokens = 0
  #cachedTokens = 0
  #checkedPredictedTokens = 0
  #checkedReportedTokens = 0

  constructor(model: string, endpoint: string) {
    this.#labels = { model, endpoint }
  }

  /** The request was sent there. The wait counts for its first attempt only. */
  dispatched(attempt: number, queueWaitMs: number): void {
    this.#attempts++
    if (attempt === 1) this.#queueWait.observe(queueWaitMs / 1000)
  }

  /**
   * @param ttftMs from arrival at the router, which is what the client waits
   * @param sinceDispatchMs what the prediction was about
   */
  firstToken(ttftMs: number, sinceDispatchMs: number, predictedMs: number): void {
    this.#ttft.observe(ttftMs / 1000)
    if (predictedMs > 0) this.#ttftRatio.observe(sinceDispatchMs / predictedMs)
  }

  interToken(latencyMs: number): void {
    this.#itl.observe(latencyMs / 1000)
  }

  ended(end: ServedEnd): void {
    const { promptTokens, outputTokens, cachedTokens } = end.usage
    this.#ends.add([end.outcome, end.status === null ? 'none' : String(end.status)])
    if (end.outcome === 'done') this.#e2e.observe(end.e2eMs / 1000)
    this.#promptTokens += promptTokens ?? 0
    this.#outputTokens += outputTokens ?? 0
    this.#cachedTokens += cachedTokens ?? 0
    if (cachedTokens === null || end.predictedCachedTokens === null) return
    this.#checkedPredictedTokens += end.predictedCachedTokens
    this.#checkedReportedTokens += cachedTokens
  }

  samples(name: MetricName): Sample[] {
    switch (name) {
      case 'warmpath_requests_total':
        return this.#ends
          .samples()
          .map(({ labels, value }) => ({ labels: { ...this.#labels, ...labels }, value }))
      case 'warmpath_time_to_first_token_seconds':
        return this.#ttft.samples(name, this.#labels)
      case 'warmpath_inter_token_latency_seconds':
        return this.#itl.samples(name, this.#labels)
      case 'warmpath_e2e_request_latency_seconds':
        return this.#e2e.samples(name, this.#labels)
      case 'warmpath_queue_wait_seconds':
        return this.#queueWait.samples(name, this.#labels)
      case 'warmpath_ttft_actual_over_predicted':
        return this.#ttftRatio.samples(name, this.#labels)
      default:
        return this.#count(name)
    }
  }

  #count(name: MetricName): Sample[] {
    const counts: Partial<Record<MetricName, number>> = {
      warmpath_attempts_total: this.#attempts,
      warmpath_prompt_tokens_total: this.#promptTokens,
      warmpath_output_tokens_total: this.#outputTokens,
      warmpath_cached_tokens_total: this.#cachedTokens,
      warmpath_checked_predicted_cached_tokens_total: this.#checkedPredictedTokens,
      warmpath_checked_reported_cached_tokens_total: this.#checkedReportedTokens,
    }
    const value = counts[name]
    return value === undefined ? [] : [{ labels: this.#labels, value }]
  }
}

export function histogramOf(name: MetricName): BucketHistogram {
  const entry: MetricEntry = metricCatalogue[name]
  return new BucketHistogram(entry.buckets ?? [])
}

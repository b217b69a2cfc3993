import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { ErrorCode } from '../base/errors.ts'
import type { EndpointKey, Phase } from '../core/events.ts'
import { limits } from '../core/limits.ts'
import type { RouterCounters } from '../core/router-counters.ts'
import { BoundedNames, otherName } from './bounded-names.ts'
import type { FallbackKind } from './fallbacks.ts'
import { type MetricName, metricCatalogue } from './metric-catalogue.ts'
import { histogramOf, ServedSeries } from './served-series.ts'
import type { RouterStatus } from './status.ts'
import { statusSamples } from './status-samples.ts'
import { type Sample, Tally } from './tally.ts'

/** The label value of a request that named no model, or went to no endpoint. */
const noneName = 'none'

const bounds = {
  /** Model names that only clients gave and that still get series of their own. */
  strangeModelsMax: 50,
  /** Pairs of model and endpoint; beyond, an endpoint's further models count as `other`. */
  servedPairsMax: 4_000,
  /** Rows of one table of failures. */
  tallyRowsMax: 10_000,
  /** Different causes; they come from code and from upstream status codes. */
  causesMax: 100,
} as const

const tallied = [
  'warmpath_refusals_total',
  'warmpath_attempt_failures_total',
  'warmpath_retries_total',
  'warmpath_ejections_total',
  'warmpath_probe_failures_total',
  'warmpath_scrape_failures_total',
] as const satisfies readonly MetricName[]

type TallyName = (typeof tallied)[number]

/** Records what happens and renders the Prometheus page. Nothing here grows with requests. */
export class Metrics {
  readonly #models = new BoundedNames(limits.namesMax, bounds.strangeModelsMax)
  readonly #causes = new BoundedNames(0, bounds.causesMax)
  readonly #endpoints = new Set<EndpointKey>()
  readonly #served = new Map<string, Map<string, ServedSeries>>()
  #servedPairs = 0
  readonly #decision = histogramOf('warmpath_decision_seconds')
  readonly #fallbacks = new Map<FallbackKind, number>()
  readonly #tallies = new Map<MetricName, Tally>(
    tallied.map((name) => [name, new Tally(metricCatalogue[name].labels, bounds.tallyRowsMax)]),
  )
  readonly #processRegistry = new Registry()

  endpointJoined(endpoint: EndpointKey): void {
    this.#endpoints.add(endpoint)
  }

  /** Its series end here; requests still open on it are counted no more. */
  endpointLeft(endpoint: EndpointKey): void {
    this.#endpoints.delete(endpoint)
    this.#servedPairs -= this.#served.get(endpoint)?.size ?? 0
    this.#served.delete(endpoint)
    for (const rows of this.#tallies.values()) rows.remove('endpoint', endpoint)
  }

  /** Model names that an endpoint or the configuration gave always keep their own series. */
  pinModels(ids: Iterable<string>): void {
    this.#models.pin(ids)
  }

  /** The series of one model on one endpoint; to be held as long as the request. */
  served(model: string | null, endpoint: EndpointKey | null): ServedSeries {
    const endpointLabel = endpoint === null ? noneName : this.#endpoint(endpoint)
    let ofEndpoint = this.#served.get(endpointLabel)
    if (ofEndpoint === undefined) {
      ofEndpoint = new Map()
      this.#served.set(endpointLabel, ofEndpoint)
    }
    const full = this.#servedPairs >= bounds.servedPairsMax
    let modelLabel = model === null ? noneName : this.#models.fold(model)
    if (full && !ofEndpoint.has(modelLabel)) modelLabel = otherName
    let series = ofEndpoint.get(modelLabel)
    if (series === undefined) {
      series = new ServedSeries(modelLabel, endpointLabel)
      ofEndpoint.set(modelLabel, series)
      this.#servedPairs++
    }
    return series
  }

  decided(decisionMs: number): void {
    this.#decision.observe(decisionMs / 1000)
  }

  refused(code: ErrorCode): void {
    this.#add('warmpath_refusals_total', code)
  }

  attemptFailed(endpoint: EndpointKey, phase: Phase, cause: string): void {
    const label = this.#causes.fold(cause)
    this.#add('warmpath_attempt_failures_total', this.#endpoint(endpoint), phase, label)
  }

  retried(cause: string): void {
    this.#add('warmpath_retries_total', this.#causes.fold(cause))
  }

  ejected(endpoint: EndpointKey, cause: string): void {
    this.#addCause('warmpath_ejections_total', endpoint, cause)
  }

  probeFailed(endpoint: EndpointKey, cause: string): void {
    this.#addCause('warmpath_probe_failures_total', endpoint, cause)
  }

  scrapeFailed(endpoint: EndpointKey, cause: string): void {
    this.#addCause('warmpath_scrape_failures_total', endpoint, cause)
  }

  fellBack(kind: FallbackKind): void {
    this.#fallbacks.set(kind, (this.#fallbacks.get(kind) ?? 0) + 1)
  }

  /** All fallbacks so far, the core's and the labels' own among them. */
  fallbacks(
    counters: RouterCounters,
    ratesDropped: number,
  ): Readonly<Partial<Record<FallbackKind, number>>> {
    return {
      ...Object.fromEntries(this.#fallbacks),
      'last-resort': counters.lastResort,
      'cache-emptied': counters.cacheEmptied,
      'prediction-distrusted': counters.predictionDistrusted,
      'rates-dropped': ratesDropped,
      'linger-expired': counters.lingerExpired,
      'label-folded': this.#models.folded + this.#causes.folded,
    }
  }

  /** Figures of the process itself (memory, CPU, event loop) join the page. Call once. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.#processRegistry })
  }

  get contentType(): string {
    return this.#processRegistry.contentType
  }

  /** The whole page in Prometheus text format. */
  async render(status: RouterStatus): Promise<string> {
    const registry = new Registry()
    for (const name of Object.keys(metricCatalogue) as MetricName[]) {
      registry.registerMetric(this.#family(name, status))
    }
    return Registry.merge([registry, this.#processRegistry]).metrics()
  }

  /** A metric as prom-client's registry asks for it; the samples are ours. */
  #family(name: MetricName, status: RouterStatus): Metric {
    const { help, type } = metricCatalogue[name]
    const get = async () => ({ name, help, type, values: this.#samples(name, status) })
    return { name, help, type, get } as unknown as Metric
  }

  #samples(name: MetricName, status: RouterStatus): Sample[] {
    const rows = this.#tallies.get(name)
    if (rows !== undefined) return rows.samples()
    if (name === 'warmpath_decision_seconds') return this.#decision.samples(name, {})
    const fromStatus = statusSamples(name, status)
    if (fromStatus !== null) return fromStatus
    return [...this.#served.values()].flatMap((ofEndpoint) =>
      [...ofEndpoint.values()].flatMap((series) => series.samples(name)),
    )
  }

  #endpoint(endpoint: EndpointKey): string {
    return this.#endpoints.has(endpoint) ? endpoint : otherName
  }

  #addCause(name: TallyName, endpoint: EndpointKey, cause: string): void {
    this.#add(name, this.#endpoint(endpoint), this.#causes.fold(cause))
  }

  #add(name: TallyName, ...labels: readonly string[]): void {
    this.#tallies.get(name)!.add(labels)
  }
}

/** What the endpoints of a model say together about one of them. */
import type { RateEstimator } from './cost/rate-estimator.ts'
import { poolPrior, type Rates } from './cost/rates.ts'
import type { EndpointState } from './fleet/endpoint-state.ts'

/** Null until something was observed of the endpoint. */
type Estimators = ReadonlyMap<EndpointState, { readonly estimator: RateEstimator | null }>

export class PeerRates {
  readonly #estimators: Estimators
  /** By the models that an endpoint serves; until something new is learned. */
  readonly #known = new Map<string, Rates>()

  constructor(estimators: Estimators) {
    this.#estimators = estimators
  }

  /** Rates were learned, or endpoints came or went. */
  changed(): void {
    this.#known.clear()
  }

  /**
   * The median of what was learned of endpoints that serve one of the same models; the prior where
   * nothing was. Endpoints whose predictions fail are asked only where there is no other.
   */
  of(endpoint: EndpointState): Rates {
    const key = endpoint.models === null ? '' : [...endpoint.models].join('\n')
    let rates = this.#known.get(key)
    if (rates === undefined) {
      rates = this.#median(endpoint)
      this.#known.set(key, rates)
    }
    return rates
  }

  #median(endpoint: EndpointState): Rates {
    const trusted: Rates[] = []
    const failing: Rates[] = []
    for (const [other, { estimator }] of this.#estimators) {
      if (estimator === null) continue
      if (![...(other.models ?? [])].some((model) => endpoint.serves(model))) continue
      if (estimator.error.trusted) trusted.push(estimator.rates())
      else failing.push(estimator.rates())
    }
    return poolPrior(trusted.length > 0 ? trusted : failing)
  }
}

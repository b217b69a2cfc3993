/**
 * How many retries the router may spend: a share of the requests, saved up to a small reserve, so
 * that an outage does not multiply the load on what is left (Finagle's retry budget).
 */
const reserveMax = 20

export class RetryBudget {
  #tokens = reserveMax

  /** A new request came: it earns its share. */
  earned(ratio: number): void {
    this.#tokens = Math.min(reserveMax, this.#tokens + ratio)
  }

  /** Whether one more retry is affordable; if so it is spent. */
  spend(): boolean {
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}

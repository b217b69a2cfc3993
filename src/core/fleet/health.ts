/**
 * Whether an endpoint may be chosen, and why not. One predicate for every policy.
 *
 * Two kinds of "no": *hard* (nothing listens there, it never answered, it drains) and *soft* (its
 * probes are slow, its requests fail, it asked to be left alone, it sleeps). A soft "no" means "not
 * while another can serve", so the last endpoint of a pool is never ejected: a wrong verdict about
 * it would turn a slow answer into no answer.
 */

/** Bounds of the health rules. Milliseconds and counts. */
export const healthRules = {
  /** Slow or failed probes in a row before an endpoint that was well is unwell. */
  probeFailuresMax: 3,
  /** Requests that failed in a row, by the endpoint's fault, before it is ejected. */
  requestFailuresMax: 3,
  /** Of the last `windowRequests`, this share failed: ejected too, though some succeed. */
  failureShareMax: 0.5,
  windowRequests: 20,
  /** First ejection; doubles with each further one, up to the maximum. */
  ejectionMs: 2_000,
  ejectionMsMax: 60_000,
  /** A token or an answer this recent says more than a slow probe. */
  progressMs: 10_000,
  /** A cooldown asked for by the engine is believed up to this. */
  cooldownMsMax: 60_000,
} as const

export interface Availability {
  readonly verdict: 'yes' | 'soft' | 'no'
  /** For an operator: `ready`, `connection refused`, `ejected for 3.2 s: 3 requests failed`. */
  readonly reason: string
}

const ready: Availability = { verdict: 'yes', reason: 'ready' }

export class Health {
  #everHealthy = false
  /** Why nothing can be sent there; null when something listens. */
  #downReason: string | null = 'not probed yet'
  #probeFailures = 0
  #probeReason = ''
  #requestFailures = 0
  /** Bit i is 1 where the i-th last request failed by the endpoint's fault. */
  #window = 0
  #windowSize = 0
  #ejections = 0
  #ejectedUntilMs = Number.NEGATIVE_INFINITY
  #ejectedWhy = ''
  #cooldownUntilMs = Number.NEGATIVE_INFINITY
  #progressAtMs = Number.NEGATIVE_INFINITY
  #draining = false
  #asleep = false

  /** A probe answered, or did not. `refused` when nothing listens: believed at once. */
  probed(atMs: number, healthy: boolean, reason: string): void {
    if (healthy) {
      // A process that was gone and answers again is a new one: old failures are not its own.
      if (this.#downReason !== null) this.#forgive()
      this.#everHealthy = true
      this.#downReason = null
      this.#probeFailures = 0
      return
    }
    this.#probeFailures++
    this.#probeReason = reason
    if (isGone(reason) || !this.#everHealthy) {
      this.#downReason = reason
    } else if (this.#probeFailures >= healthRules.probeFailuresMax && !this.#progressing(atMs)) {
      this.#probeReason = `${this.#probeFailures} probes failed: ${reason}`
    }
  }

  /** A request made progress there: a first token, a token, a good end. */
  progressed(atMs: number): void {
    this.#progressAtMs = atMs
  }

  succeeded(atMs: number): void {
    this.#progressAtMs = atMs
    this.#requestFailures = 0
    this.#record(0)
    if (this.#window === 0) this.#ejections = 0
  }

  /**
   * A request failed by the endpoint's fault. Returns whether that ejects it.
   * @param refused nothing listened: the endpoint is down until a probe says otherwise.
   */
  failed(atMs: number, cause: string, refused: boolean): boolean {
    this.#record(1)
    this.#requestFailures++
    if (refused) {
      this.#downReason = 'connection refused'
      return true
    }
    if (atMs < this.#ejectedUntilMs) return false
    const share = popCount(this.#window) / this.#windowSize
    const often = this.#windowSize >= healthRules.windowRequests / 2
    if (
      this.#requestFailures < healthRules.requestFailuresMax &&
      !(often && share >= healthRules.failureShareMax)
    ) {
      return false
    }
    const ejectionMs = healthRules.ejectionMs * 2 ** this.#ejections
    this.#ejections = Math.min(this.#ejections + 1, 10)
    this.#ejectedUntilMs = atMs + Math.min(ejectionMs, healthRules.ejectionMsMax)
    this.#ejectedWhy = `${this.#requestFailures} requests failed in a row: ${cause}`
    return true
  }

  /** The engine asked for no new work for so long. The later deadline counts. */
  cooldown(atMs: number, forMs: number): void {
    const untilMs = atMs + Math.min(forMs, healthRules.cooldownMsMax)
    this.#cooldownUntilMs = Math.max(this.#cooldownUntilMs, untilMs)
  }

  set draining(draining: boolean) {
    this.#draining = draining
  }

  set asleep(asleep: boolean) {
    this.#asleep = asleep
  }

  /** A new process answers on the old address: nothing held against the old one counts. */
  restarted(): void {
    this.#forgive()
    this.#asleep = false
  }

  availability(nowMs: number): Availability {
    if (this.#draining) return { verdict: 'no', reason: 'draining' }
    if (this.#downReason !== null) return { verdict: 'no', reason: this.#downReason }
    if (this.#asleep) return { verdict: 'soft', reason: 'asleep' }
    if (this.#probeFailures >= healthRules.probeFailuresMax && !this.#progressing(nowMs)) {
      return { verdict: 'soft', reason: this.#probeReason }
    }
    if (nowMs < this.#ejectedUntilMs) {
      const leftS = ((this.#ejectedUntilMs - nowMs) / 1000).toFixed(1)
      return { verdict: 'soft', reason: `ejected for ${leftS} s: ${this.#ejectedWhy}` }
    }
    if (nowMs < this.#cooldownUntilMs) {
      const leftS = ((this.#cooldownUntilMs - nowMs) / 1000).toFixed(1)
      return { verdict: 'soft', reason: `asked to be left alone for ${leftS} s` }
    }
    return ready
  }

  #progressing(nowMs: number): boolean {
    return nowMs - this.#progressAtMs <= healthRules.progressMs
  }

  #record(failed: 0 | 1): void {
    const mask = 2 ** healthRules.windowRequests - 1
    this.#window = ((this.#window << 1) | failed) & mask
    this.#windowSize = Math.min(this.#windowSize + 1, healthRules.windowRequests)
  }

  #forgive(): void {
    this.#requestFailures = 0
    this.#window = 0
    this.#windowSize = 0
    this.#ejections = 0
    this.#ejectedUntilMs = Number.NEGATIVE_INFINITY
    this.#cooldownUntilMs = Number.NEGATIVE_INFINITY
  }
}

/** Probe outcomes that mean "no process there", not "a slow one". */
function isGone(reason: string): boolean {
  return reason === 'connection refused' || reason === 'unreachable'
}

function popCount(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}

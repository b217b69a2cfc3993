/**
 * How much more memory may be promised than there is. Shared prefixes, sessions at rest and the
 * engine's own cache make more sessions fit than their sizes say, and nobody can know how many
 * beforehand: so the factor follows what the fleet shows.
 */

const windowMs = 30_000
const factorMin = 0.8
const factorMax = 6
const growth = 1.03
const shrinkage = 0.92
/**
 * How much wasted prefill time a unit of idle prefill time is worth. Recorded sessions: 0.25 leaves
 * 15 % of throughput behind in deep overload, 0.5 takes 2 % where memory is just enough.
 */
const slackWorth = 0.4
/** Less waiting and less waste than this, as shares of the time, and nothing is scarce. */
const heldShareMin = 0.2
const wasteShareMin = 0.02

/** Time of one endpoint with and without prefill work. */
class BusyMeter {
  busyMs = 0
  #atMs: number
  #busyUntilMs = Number.NEGATIVE_INFINITY

  constructor(atMs: number) {
    this.#atMs = atMs
  }

  /** @param busyForMs prefill work from `atMs` on; infinite until told otherwise */
  observe(atMs: number, busyForMs: number): void {
    this.busyMs += Math.max(0, Math.min(atMs, this.#busyUntilMs) - this.#atMs)
    this.#atMs = atMs
    this.#busyUntilMs = atMs + busyForMs
  }

  /** What was counted so far, which then begins again at zero. */
  take(atMs: number): number {
    const remainingMs = Math.max(0, this.#busyUntilMs - atMs)
    this.observe(atMs, remainingMs)
    const { busyMs } = this
    this.busyMs = 0
    return busyMs
  }
}

export class Overcommit {
  /** Memory promised per memory that there is. */
  factor = 1
  /** Shares of the last window, for the status page. */
  slack = 0
  waste = 0
  readonly #meters = new Map<number, BusyMeter>()
  #windowStartMs: number | null = null
  #wastedMs = 0
  #heldMs = 0
  #heldSinceMs: number | null = null

  /** An endpoint has prefill work for so long from now; infinite where only an event will tell. */
  prefillBusy(slot: number, atMs: number, busyForMs: number): void {
    let meter = this.#meters.get(slot)
    if (meter === undefined) {
      meter = new BusyMeter(atMs)
      this.#meters.set(slot, meter)
    }
    meter.observe(atMs, busyForMs)
  }

  /** Prefill time spent on what a session had computed before. */
  wasted(ms: number): void {
    this.#wastedMs += ms
  }

  /** Whether somebody waits from now on. */
  waiting(somebody: boolean, atMs: number): void {
    if (somebody === (this.#heldSinceMs !== null)) return
    if (!somebody) this.#heldMs += atMs - this.#heldSinceMs!
    this.#heldSinceMs = somebody ? atMs : null
  }

  instanceGone(slot: number): void {
    this.#meters.delete(slot)
  }

  /** Ends a window that is due. */
  tick(atMs: number): void {
    this.#windowStartMs ??= atMs
    const lengthMs = atMs - this.#windowStartMs
    if (lengthMs < windowMs) return
    const endpointMs = lengthMs * this.#meters.size
    let busyMs = 0
    for (const meter of this.#meters.values()) busyMs += meter.take(atMs)
    if (this.#heldSinceMs !== null) {
      this.#heldMs += atMs - this.#heldSinceMs
      this.#heldSinceMs = atMs
    }
    if (endpointMs > 0)
      this.#adjust(busyMs / endpointMs, this.#wastedMs / endpointMs, this.#heldMs / lengthMs)
    this.#windowStartMs = atMs
    this.#wastedMs = 0
    this.#heldMs = 0
  }

  #adjust(busy: number, waste: number, held: number): void {
    this.slack = Math.max(0, 1 - busy)
    this.waste = waste
    if (held < heldShareMin && waste <= wasteShareMin) return
    const changed = this.factor * (slackWorth * this.slack > waste ? growth : shrinkage)
    this.factor = Math.min(factorMax, Math.max(factorMin, changed))
  }
}

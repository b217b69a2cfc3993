import type { EngineSignals } from '../core/fleet/endpoint.ts'

/**
 * Tells one process on an address from the next. The identity is the start time that the engine
 * reports, or, where it reports none, a number that grows with each restart that could be seen: a
 * refused connection in between, or a counter that went backwards.
 */
export class InstanceTracker {
  #id: string | null = null
  #reported: string | null = null
  #runs = 1
  #queriedTokens = 0

  /** Null until somebody who answers was looked at. */
  get id(): string | null {
    return this.#id
  }

  /** Whether the engine itself says when it started. */
  get reports(): boolean {
    return this.#reported !== null
  }

  /** The engine was looked at, and no start was seen: it gets a number. */
  settle(): void {
    if (this.#id !== null) return
    this.#id = `run ${this.#runs}`
    this.#reported = null
  }

  /** Nothing listened there, and now something does: the next look tells who it is. */
  cameBack(): void {
    this.#id = null
    this.#runs++
    this.#queriedTokens = 0
  }

  /**
   * One scrape.
   * @param reported the engine's own identity; undefined when it has none
   * @returns what shows that this is another process; null when nothing does
   */
  scraped(reported: string | undefined, signals: EngineSignals): string | null {
    const queriedTokens = signals.prefixQueriedTokens ?? this.#queriedTokens
    const backwards = queriedTokens < this.#queriedTokens
    this.#queriedTokens = queriedTokens
    if (reported !== undefined) return this.#compare(reported)
    if (!backwards || this.#reported !== null || this.#id === null) return null
    this.#runs++
    this.#id = `run ${this.#runs}`
    return 'its counters went backwards'
  }

  #compare(reported: string): string | null {
    const before = this.#reported
    if (this.#id === null || before === null) {
      this.#reported = reported
      this.#id ??= reported
      return null
    }
    // Several processes behind one address answer in turn; only a later start is a restart.
    if (!isLater(reported, before)) return null
    this.#reported = reported
    this.#id = reported
    return 'it started later than before'
  }
}

/** Start times compare as numbers; identities of another kind are later when they differ. */
function isLater(reported: string, before: string): boolean {
  const now = startTime(reported)
  const then = startTime(before)
  return Number.isNaN(now) || Number.isNaN(then) ? reported !== before : now > then
}

function startTime(identity: string): number {
  const number = /^(?:[a-z_]+[ :=])?(\d[\d.]*(?:e[+-]?\d+)?)$/i.exec(identity)?.[1]
  return number === undefined ? Number.NaN : Number(number)
}

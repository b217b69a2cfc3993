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

  /** Null until the first look at the engine is complete. */
  get id(): string | null {
    return this.#id
  }

  /** Whether the engine itself says when it started. */
  get reports(): boolean {
    return this.#reported !== null
  }

  /** The engine was looked at and said nothing of its start. */
  settle(): void {
    this.#id ??= `run ${this.#runs}`
  }

  /** Nothing listened there, and now something does. */
  cameBack(): void {
    if (this.#id !== null) this.#restart()
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
    if (!backwards || this.#reported !== null) return null
    this.#restart()
    return 'its counters went backwards'
  }

  #compare(reported: string): string | null {
    const before = this.#reported
    // Several processes behind one address answer in turn; only a later start is a restart.
    if (before !== null && !isLater(reported, before)) return null
    this.#reported = reported
    if (before === null) {
      this.#id ??= reported
      return null
    }
    this.#id = reported
    return 'it started later than before'
  }

  #restart(): void {
    this.#runs++
    this.#id = `run ${this.#runs}`
    this.#reported = null
    this.#queriedTokens = 0
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

/** Which engines say how much of a prompt was cached; without that nobody sees thrashing. */
import type { Usage } from '../events.ts'

/** Answers without a word about the cache after which an instance counts as silent. */
const silentAfter = 8

export class CacheReports {
  /** Answers in a row that did not say; a report begins again at zero. */
  readonly #unsaid = new Map<number, number>()

  answered(slot: number, usage: Usage): void {
    const reported = usage.cachedTokens !== null
    this.#unsaid.set(slot, reported ? 0 : Math.min(silentAfter, (this.#unsaid.get(slot) ?? 0) + 1))
  }

  /** Until its first answers an instance is taken to report. */
  isSilent(slot: number): boolean {
    return (this.#unsaid.get(slot) ?? 0) >= silentAfter
  }

  /** Instances that do not report. */
  get silent(): number {
    let count = 0
    for (const unsaid of this.#unsaid.values()) if (unsaid >= silentAfter) count++
    return count
  }

  instanceGone(slot: number): void {
    this.#unsaid.delete(slot)
  }
}

/**
 * What one endpoint spent its time on, told from the outside by its first tokens.
 *
 * Engines compute prompts one after the other. So the time that a prompt took for itself runs from
 * the first token before its own, or from its dispatch where that was later, and no belief about
 * the work ahead of it is needed. First tokens of one step come together: those prompts form
 * a group and share its time.
 */

/** Prompts whose first tokens came with one step. */
interface StepGroup {
  readonly startedMs: number
  /** Uncached tokens of all its members. */
  tokens: number
}

export interface FirstTokenSeen {
  readonly atMs: number
  readonly dispatchedAtMs: number
  /** Prompt tokens as believed: those that were computed, and those that were not. */
  readonly uncachedTokens: number
  readonly cachedTokens: number
  /** More was on the endpoint than fits: the request may have waited for room. */
  readonly crowded: boolean
}

/** Taken at a request's first token, kept until its outcome is known. */
export interface ServiceMark {
  readonly group: StepGroup
  /** From the start of its service to its first token. */
  readonly serviceMs: number
  /** How long after its dispatch the service began. */
  readonly waitedMs: number
  readonly uncachedTokens: number
  readonly crowded: boolean
  /** Prompt tokens, and pairs of them, that the endpoint had computed until then. */
  readonly computedTokens: number
  readonly computedPairs: number
}

/** First tokens closer to each other than this share of a decode step come from one step. */
const sameStepShare = 0.25

export class ServiceMeter {
  #group: StepGroup | null = null
  #lastFirstTokenMs = Number.NEGATIVE_INFINITY
  #computedTokens = 0
  #computedPairs = 0

  /**
   * To be called in the order of first tokens.
   * @param stepMs about the length of a decode step there
   */
  firstToken(seen: FirstTokenSeen, stepMs: number): ServiceMark {
    const { atMs, uncachedTokens } = seen
    let group = this.#group
    if (group === null || atMs - this.#lastFirstTokenMs > sameStepShare * stepMs) {
      group = { startedMs: Math.max(seen.dispatchedAtMs, this.#lastFirstTokenMs), tokens: 0 }
      this.#group = group
    }
    group.tokens += uncachedTokens
    this.#lastFirstTokenMs = Math.max(atMs, this.#lastFirstTokenMs)
    this.#computedTokens += uncachedTokens
    this.#computedPairs += uncachedTokens * (seen.cachedTokens + uncachedTokens / 2)
    return {
      group,
      serviceMs: atMs - group.startedMs,
      waitedMs: Math.max(0, group.startedMs - seen.dispatchedAtMs),
      uncachedTokens,
      crowded: seen.crowded,
      computedTokens: this.#computedTokens,
      computedPairs: this.#computedPairs,
    }
  }

  /** Prompt tokens, and pairs of them, computed there since the mark was taken. */
  computedSince(mark: ServiceMark): { readonly tokens: number; readonly pairs: number } {
    return {
      tokens: this.#computedTokens - mark.computedTokens,
      pairs: this.#computedPairs - mark.computedPairs,
    }
  }
}

/** Uncached tokens of the other prompts that shared the time of the mark's request. */
export function sharedTokens(mark: ServiceMark): number {
  return Math.max(0, mark.group.tokens - mark.uncachedTokens)
}

/** What part of the prompt tokens of a model was found cached, lately. */
import { NamedTable } from './named-table.ts'

/** Between published agent traffic (0.9 and more) and chat (0.3). */
const priorShare = 0.5
/** The prior counts as much as a few long prompts. */
const priorTokens = 50_000
/** Tokens after which the past counts half. */
const memoryTokens = 20_000_000

interface Entry {
  cachedTokens: number
  promptTokens: number
}

export class ReuseShare {
  readonly #models = new NamedTable<Entry>(() => ({
    cachedTokens: priorShare * priorTokens,
    promptTokens: priorTokens,
  }))

  /** 0 to 1: the chance that a token computed for one prompt is wanted again by a later one. */
  share(model: string): number {
    const entry = this.#models.find(model)
    return entry === null ? priorShare : entry.cachedTokens / entry.promptTokens
  }

  observe(model: string, promptTokens: number, cachedTokens: number): void {
    if (!(promptTokens > 0) || !(cachedTokens >= 0) || !Number.isFinite(promptTokens)) return
    const entry = this.#models.entry(model)
    entry.cachedTokens += Math.min(cachedTokens, promptTokens)
    entry.promptTokens += promptTokens
    if (entry.promptTokens < memoryTokens) return
    entry.cachedTokens /= 2
    entry.promptTokens /= 2
  }
}

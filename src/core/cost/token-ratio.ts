/** Tokens per byte of canonical prompt, per model, learned from the engines' `usage`. */
import { NamedTable } from './named-table.ts'

/** English and code in the common tokenizers. */
const priorTokensPerByte = 0.25
/** The prior counts as much as one short page of text. */
const priorBytes = 2_000
/** Any tokenizer and language lies within; what lies outside counts images or hidden prompts. */
const tokensPerByteMin = 0.02
const tokensPerByteMax = 2
/** A prompt counts by its length, up to this: short ones are mostly template. */
const weightBytesMax = 65_536
/** Total weight, in bytes, beyond which the past is halved. */
const memoryBytes = 4_000_000
/** Once this much was seen, one prompt may not differ from the mean by more than this factor. */
const settledBytes = 20_000
const deviationMax = 1.5

interface Entry {
  tokens: number
  bytes: number
}

export class TokenRatio {
  readonly #models = new NamedTable<Entry>(() => ({
    tokens: priorTokensPerByte * priorBytes,
    bytes: priorBytes,
  }))

  tokensPerByte(model: string): number {
    const entry = this.#models.find(model)
    return entry === null ? priorTokensPerByte : entry.tokens / entry.bytes
  }

  /** @param promptTokens as the engine counted them */
  observe(model: string, promptBytes: number, promptTokens: number): void {
    const measured = promptTokens / promptBytes
    if (!(promptBytes > 0) || !(measured > 0) || !Number.isFinite(measured)) return
    const entry = this.#models.entry(model)
    const mean = entry.tokens / entry.bytes
    let ratio = clamp(measured, tokensPerByteMin, tokensPerByteMax)
    if (entry.bytes > settledBytes) ratio = clamp(ratio, mean / deviationMax, mean * deviationMax)
    const weight = Math.min(promptBytes, weightBytesMax)
    entry.tokens += ratio * weight
    entry.bytes += weight
    if (entry.bytes > memoryBytes) {
      entry.tokens /= 2
      entry.bytes /= 2
    }
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** How many tokens an answer of a model is expected to have. */
import { NamedTable } from './named-table.ts'

/** Between the means of published chat (211) and agent traffic (about 500). */
const priorOutputTokens = 250
const priorWeight = 4
/** Bucket i holds answers of 2^i to 2^(i+1) − 1 tokens. */
const buckets = 20
/** Answers after which the past counts half. */
const memoryAnswers = 500

/**
 * A decaying histogram of lengths, because a mean alone cannot tell what a limit cuts off: with
 * lengths of 10 and 1,000 in equal parts and a limit of 100 the answer is 55 tokens, not 100.
 */
class Lengths {
  readonly counts = new Float64Array(buckets)
  readonly sums = new Float64Array(buckets)
  total = priorWeight

  constructor() {
    this.counts[bucketOf(priorOutputTokens)] = priorWeight
    this.sums[bucketOf(priorOutputTokens)] = priorWeight * priorOutputTokens
  }

  observe(outputTokens: number): void {
    const bucket = bucketOf(outputTokens)
    this.counts[bucket]!++
    this.sums[bucket]! += outputTokens
    this.total++
    if (this.total < memoryAnswers) return
    for (let i = 0; i < buckets; i++) {
      this.counts[i]! /= 2
      this.sums[i]! /= 2
    }
    this.total /= 2
  }

  /** Mean of the lengths, each cut at `most`. */
  mean(most: number): number {
    let sum = 0
    for (let i = 0; i < buckets; i++) {
      const count = this.counts[i]!
      if (count > 0) sum += count * Math.min(most, this.sums[i]! / count)
    }
    return sum / this.total
  }
}

export class OutputLength {
  readonly #models = new NamedTable(() => new Lengths())

  /** @param maxOutputTokens the client's limit; null when it gave none */
  expected(model: string, maxOutputTokens: number | null): number {
    const most = Math.max(1, maxOutputTokens ?? Number.POSITIVE_INFINITY)
    const lengths = this.#models.find(model)
    return lengths === null ? Math.min(most, priorOutputTokens) : Math.max(1, lengths.mean(most))
  }

  observe(model: string, outputTokens: number): void {
    if (outputTokens > 0 && Number.isFinite(outputTokens)) {
      this.#models.entry(model).observe(outputTokens)
    }
  }
}

function bucketOf(tokens: number): number {
  return Math.max(0, Math.min(buckets - 1, Math.floor(Math.log2(tokens))))
}

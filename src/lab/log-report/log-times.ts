import { FoldingBins } from './folding-bins.ts'
import type { LogFigures, LogTimeline } from './log-figures.ts'
import type { LoggedCall } from './logged-call.ts'

const firstBinMs = 1_000
/** Endpoints that have a row of their own. */
const rowsMax = 64

/** When things happened. */
export class LogTimes {
  #firstMs = Number.POSITIVE_INFINITY
  #lastMs = Number.NEGATIVE_INFINITY
  #arrivals: FoldingBins | null = null
  #refused: FoldingBins | null = null
  readonly #computed = new Map<string, FoldingBins>()

  get lastMs(): number {
    return this.#lastMs
  }

  get span(): LogFigures['time'] {
    if (!(this.#lastMs >= this.#firstMs)) return null
    return {
      from: new Date(this.#firstMs).toISOString(),
      to: new Date(this.#lastMs).toISOString(),
      ms: this.#lastMs - this.#firstMs,
    }
  }

  add(call: LoggedCall): void {
    const { arrivedMs, endedMs, outcome, endpoint, promptTokens, cachedTokens, heldMs } = call
    // Calls come by their ends: the first to end began a little after the first to arrive.
    this.#arrivals ??= new FoldingBins(arrivedMs, firstBinMs)
    this.#refused ??= new FoldingBins(arrivedMs, firstBinMs)
    this.#firstMs = Math.min(this.#firstMs, arrivedMs)
    this.#lastMs = Math.max(this.#lastMs, endedMs)
    this.#arrivals.add(arrivedMs, 1)
    if (outcome === 'refused') this.#refused.add(arrivedMs, 1)
    if (endpoint === null || promptTokens === null || call.ttftMs === null) return
    const bins = this.#rowOf(endpoint)
    bins?.add(arrivedMs + heldMs, Math.max(0, promptTokens - (cachedTokens ?? 0)))
  }

  timeline(): LogTimeline | null {
    if (this.#arrivals === null || this.#refused === null) return null
    const all = [this.#arrivals, this.#refused, ...this.#computed.values()]
    const binMs = Math.max(...all.map((bins) => bins.binMs))
    const length = Math.max(...all.map((bins) => bins.sums(binMs).length))
    const filled = (bins: FoldingBins): number[] => {
      const sums = bins.sums(binMs)
      return [...sums, ...new Array<number>(length - sums.length).fill(0)]
    }
    return {
      binMs,
      arrivals: filled(this.#arrivals),
      refused: filled(this.#refused),
      computedTokens: [...this.#computed].map(([name, bins]) => ({ name, values: filled(bins) })),
    }
  }

  #rowOf(endpoint: string): FoldingBins | null {
    const known = this.#computed.get(endpoint)
    if (known !== undefined) return known
    if (this.#computed.size >= rowsMax) return null
    // All rows begin with the arrivals, so that their bins are the same.
    const bins = new FoldingBins(this.#arrivals!.fromMs, firstBinMs)
    this.#computed.set(endpoint, bins)
    return bins
  }
}

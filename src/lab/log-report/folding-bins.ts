/** More of them are folded into half as many, twice as long. */
const binsMax = 240

/** Sums by time, in at most 240 bins of equal length for any length of time. */
export class FoldingBins {
  /** When the first bin begins; what was before counts in it. */
  readonly fromMs: number
  #binMs: number
  #sums: number[] = []

  constructor(fromMs: number, binMs: number) {
    this.fromMs = fromMs
    this.#binMs = binMs
  }

  get binMs(): number {
    return this.#binMs
  }

  add(atMs: number, value: number): void {
    const place = this.#reach(atMs)
    this.#sums[place]! += value
  }

  /** The sums in bins of that length, which is `binMs` times a power of two. */
  sums(binMs: number): number[] {
    while (this.#binMs < binMs) this.#fold()
    return [...this.#sums]
  }

  #reach(atMs: number): number {
    const placeOf = (): number => Math.max(0, Math.floor((atMs - this.fromMs) / this.#binMs))
    while (placeOf() >= binsMax) this.#fold()
    const place = placeOf()
    while (this.#sums.length <= place) this.#sums.push(0)
    return place
  }

  #fold(): void {
    const folded: number[] = []
    for (let i = 0; i < this.#sums.length; i += 2) {
      folded.push(this.#sums[i]! + (this.#sums[i + 1] ?? 0))
    }
    this.#sums = folded
    this.#binMs *= 2
  }
}

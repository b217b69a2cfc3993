import { otherName } from './bounded-names.ts'

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** For a histogram's parts: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string
}

/** Counts by label values, in a bounded number of rows; beyond, all counts as `other`. */
export class Tally {
  readonly #labelNames: readonly string[]
  readonly #rowsMax: number
  readonly #rows = new Map<string, { readonly values: readonly string[]; count: number }>()

  constructor(labelNames: readonly string[], rowsMax: number) {
    this.#labelNames = labelNames
    this.#rowsMax = rowsMax
  }

  /** @param values one for each label, in the order of the label names */
  add(values: readonly string[], amount = 1): void {
    const key = values.join('\n')
    const row = this.#rows.get(key)
    if (row !== undefined) row.count += amount
    else if (this.#rows.size < this.#rowsMax) this.#rows.set(key, { values, count: amount })
    else this.#addOther(values.length, amount)
  }

  /** Forgets the rows of an endpoint that left. */
  remove(labelName: string, value: string): void {
    const index = this.#labelNames.indexOf(labelName)
    for (const [key, row] of this.#rows) if (row.values[index] === value) this.#rows.delete(key)
  }

  samples(): Sample[] {
    return [...this.#rows.values()].map(({ values, count }) => ({
      labels: Object.fromEntries(this.#labelNames.map((name, i) => [name, values[i]!])),
      value: count,
    }))
  }

  #addOther(length: number, amount: number): void {
    const values = new Array<string>(length).fill(otherName)
    const key = values.join('\n')
    const row = this.#rows.get(key)
    if (row === undefined) this.#rows.set(key, { values, count: amount })
    else row.count += amount
  }
}

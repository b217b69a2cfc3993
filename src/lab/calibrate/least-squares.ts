/** Linear least squares whose coefficients may not be negative, for a handful of coefficients. */

export interface LinearFit {
  /** One for each column; those that would be negative are 0. */
  readonly values: readonly number[]
  /** Standard errors, from how far the rows lie off; NaN where the rows do not determine one. */
  readonly errors: readonly number[]
}

/**
 * Minimises Σ (rows·values − targets)² over values ≥ 0. Of n columns every subset is tried (2ⁿ
 * small systems), which is exact and needs no iteration; n is at most `columnsMax`.
 */
export function nonNegativeLeastSquares(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
): LinearFit {
  const columns = rows[0].length
  if (columns > columnsMax) throw new RangeError(`${columns} columns, more than ${columnsMax}`)
  const normal = new NormalEquations(rows, targets)
  let bestSet = 0
  let best = new Array<number>(columns).fill(0)
  let bestGain = 0
  for (let set = 1; set < 2 ** columns; set++) {
    const active = membersOf(set, columns)
    const values = normal.solve(active)
    if (values === null || values.some((value) => value < 0)) continue
    const gain = normal.gain(active, values)
    if (gain <= bestGain) continue
    bestGain = gain
    bestSet = set
    best = new Array<number>(columns).fill(0)
    for (const [i, column] of active.entries()) best[column] = values[i]
  }
  const freedom = Math.max(1, rows.length - membersOf(bestSet, columns).length)
  const variance = sumOfSquares(rows, targets, best) / freedom
  // One that is 0 is as uncertain as it would be if it were in the model.
  const errors = best.map((_, column) => {
    const active = membersOf(bestSet | (1 << column), columns)
    const inverse = normal.inverseDiagonal(active, column)
    return inverse === null ? Number.NaN : Math.sqrt(variance * inverse)
  })
  return { values: best, errors }
}

const columnsMax = 12
/** A pivot below this share of its column's length is none: no row tells two columns apart. */
const pivotMin = 1e-10

function membersOf(set: number, columns: number): number[] {
  return Array.from({ length: columns }, (_, i) => i).filter((i) => (set >> i) & 1)
}

function sumOfSquares(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
  values: readonly number[],
): number {
  return rows.reduce((sum, row, i) => {
    const predicted = row.reduce((all, amount, j) => all + amount * values[j], 0)
    return sum + (predicted - targets[i]) ** 2
  }, 0)
}

/** XᵀX and Xᵀy, with columns scaled to length 1: their units are orders of magnitude apart. */
class NormalEquations {
  readonly #gram: readonly (readonly number[])[]
  readonly #moments: readonly number[]
  readonly #scales: readonly number[]

  constructor(rows: readonly (readonly number[])[], targets: readonly number[]) {
    const columns = rows[0].map((_, j) => rows.map((row) => row[j]))
    this.#scales = columns.map((column) => Math.sqrt(dot(column, column)) || 1)
    const scaled = columns.map((column, j) => column.map((amount) => amount / this.#scales[j]))
    this.#gram = scaled.map((a) => scaled.map((b) => dot(a, b)))
    this.#moments = scaled.map((column) => dot(column, targets))
  }

  /** The best values of these columns alone; null where they are not determined. */
  solve(active: readonly number[]): number[] | null {
    const solved = this.#eliminate(
      active,
      active.map((column) => this.#moments[column]),
    )
    return solved?.map((value, i) => value / this.#scales[active[i]]) ?? null
  }

  /** By how much the best values lower the sum of squares below that of all zeros. */
  gain(active: readonly number[], values: readonly number[]): number {
    return values.reduce((sum, value, i) => {
      const column = active[i]
      return sum + value * this.#scales[column] * this.#moments[column]
    }, 0)
  }

  /** The entry of (XᵀX)⁻¹ that stands for `column`; null where it is not determined. */
  inverseDiagonal(active: readonly number[], column: number): number | null {
    const place = active.indexOf(column)
    const unit = active.map((_, i) => (i === place ? 1 : 0))
    const solved = this.#eliminate(active, unit)
    return solved === null ? null : solved[place] / this.#scales[column] ** 2
  }

  /** Gauss-Jordan with the largest pivot; the matrix is symmetric and small. */
  #eliminate(active: readonly number[], right: readonly number[]): number[] | null {
    const size = active.length
    const rows = active.map((i, at) => [...active.map((j) => this.#gram[i][j]), right[at]])
    for (let pivot = 0; pivot < size; pivot++) {
      let largest = pivot
      for (let i = pivot + 1; i < size; i++) {
        if (Math.abs(rows[i][pivot]) > Math.abs(rows[largest][pivot])) largest = i
      }
      ;[rows[pivot], rows[largest]] = [rows[largest], rows[pivot]]
      const head = rows[pivot]
      if (!(Math.abs(head[pivot]) > pivotMin)) return null
      for (let i = 0; i < size; i++) {
        const row = rows[i]
        if (i === pivot) continue
        const times = row[pivot] / head[pivot]
        for (let j = pivot; j <= size; j++) row[j] -= times * head[j]
      }
    }
    return rows.map((row, i) => row[size] / row[i])
  }
}

function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i]
  return sum
}

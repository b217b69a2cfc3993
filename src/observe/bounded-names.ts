/** The value that stands for all names beyond the bound. */
export const otherName = 'other'

const nameCharsMax = 128

/**
 * Decides which names may become metric labels. Names that the operator or an engine gave are
 * pinned; the first few that only clients gave are let in; all others share one value. A client
 * can therefore neither mint series without end nor push a real model out.
 */
export class BoundedNames {
  readonly #pinned = new Set<string>()
  readonly #strangers = new Set<string>()
  readonly #pinnedMax: number
  readonly #strangersMax: number
  #folded = 0

  constructor(pinnedMax: number, strangersMax: number) {
    this.#pinnedMax = pinnedMax
    this.#strangersMax = strangersMax
  }

  pin(names: Iterable<string>): void {
    for (const name of names) {
      if (this.#pinned.size >= this.#pinnedMax) return
      if (name.length > nameCharsMax) continue
      this.#pinned.add(name)
      this.#strangers.delete(name)
    }
  }

  /** The name itself, or `other`. */
  fold(name: string): string {
    if (this.#pinned.has(name) || this.#strangers.has(name)) return name
    if (this.#strangers.size < this.#strangersMax && name.length <= nameCharsMax) {
      this.#strangers.add(name)
      return name
    }
    this.#folded++
    return otherName
  }

  /** How often a name was counted as `other`. */
  get folded(): number {
    return this.#folded
  }
}

import { limits } from '../limits.ts'

/** One entry per name, at most `limits.namesMax` of them; names beyond that share one. */
export class NamedTable<Entry> {
  readonly #entries = new Map<string, Entry>()
  readonly #create: () => Entry
  readonly #sizeMax: number
  #shared: Entry | null = null

  constructor(create: () => Entry, sizeMax: number = limits.namesMax) {
    this.#create = create
    this.#sizeMax = sizeMax
  }

  /** The entry of a name that was written before; null for a new one. Changes nothing. */
  find(name: string): Entry | null {
    const entry = this.#entries.get(name)
    if (entry !== undefined) return entry
    return this.#entries.size < this.#sizeMax ? null : this.#shared
  }

  /** The entry to write to: its own, a new one, or the shared one once the table is full. */
  entry(name: string): Entry {
    const found = this.#entries.get(name)
    if (found !== undefined) return found
    if (this.#entries.size >= this.#sizeMax) {
      this.#shared ??= this.#create()
      return this.#shared
    }
    const created = this.#create()
    this.#entries.set(name, created)
    return created
  }
}

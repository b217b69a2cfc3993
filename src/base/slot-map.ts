/**
 * A map whose entries come and go all the time. A plain `Map` makes itself a new table every few
 * deletions; V8 links each old table to the next, so once one of them is in the old space all
 * later ones, and the values in them, survive until the next full collection. Here those tables
 * hold numbers only, and the values stand in one array.
 */
export class SlotMap<Value> {
  readonly #slots = new Map<string, number>()
  readonly #values: (Value | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#slots.size
  }

  has(key: string): boolean {
    return this.#slots.has(key)
  }

  get(key: string): Value | undefined {
    const slot = this.#slots.get(key)
    return slot === undefined ? undefined : this.#values[slot]
  }

  set(key: string, value: Value): void {
    let slot = this.#slots.get(key)
    if (slot === undefined) {
      slot = this.#free.pop() ?? this.#values.length
      this.#slots.set(key, slot)
    }
    this.#values[slot] = value
  }

  delete(key: string): boolean {
    const slot = this.#slots.get(key)
    if (slot === undefined) return false
    this.#slots.delete(key)
    this.#values[slot] = undefined
    this.#free.push(slot)
    return true
  }

  /** As of now: changes while the list is used do not matter. */
  values(): Value[] {
    return this.#values.filter((value) => value !== undefined)
  }
}

import { type Random, randomInt, seededRandom } from '../../base/random.ts'

/** A fair choice of so many of any number of things (reservoir sampling, Vitter's R). */
export class FairSample<Item> {
  readonly #most: number
  readonly #random: Random = seededRandom(1)
  readonly #items: Item[] = []
  #seen = 0

  constructor(most: number) {
    this.#most = most
  }

  get items(): readonly Item[] {
    return this.#items
  }

  add(item: Item): void {
    this.#seen++
    if (this.#items.length < this.#most) {
      this.#items.push(item)
      return
    }
    const place = randomInt(this.#random, this.#seen)
    if (place < this.#most) this.#items[place] = item
  }
}

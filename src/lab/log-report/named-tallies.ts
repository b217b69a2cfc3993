import { CallTally } from './call-tally.ts'
import type { LoggedCall } from './logged-call.ts'

const namesMax = 200
/** Stands for all names beyond the bound. */
const otherName = '(other)'

/** One tally a name, of the first 200 names. */
export class NamedTallies {
  readonly #tallies = new Map<string, CallTally>()

  add(name: string, call: LoggedCall): void {
    const key = this.#tallies.has(name) || this.#tallies.size < namesMax ? name : otherName
    let tally = this.#tallies.get(key)
    if (tally === undefined) {
      tally = new CallTally()
      this.#tallies.set(key, tally)
    }
    tally.add(call)
  }

  /** Those with most requests first. */
  get byRequests(): (readonly [string, CallTally])[] {
    return [...this.#tallies].sort(([, a], [, b]) => b.count - a.count)
  }
}

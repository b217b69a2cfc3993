/** Lets a bounded number of tasks run at once; the others wait their turn, first come first. */
export class FetchGate {
  readonly #runningMax: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(runningMax: number) {
    this.#runningMax = runningMax
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#runningMax) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await task()
    } finally {
      // A place is handed on, so that a newcomer cannot overtake those who wait.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}

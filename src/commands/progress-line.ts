import type { Clock } from '../base/scheduler.ts'
import { LiveLine } from './live-line.ts'

/** Progress of a known number of things, with the time that is left. */
export class ProgressLine {
  readonly #what: string
  readonly #clock: Clock
  readonly #line: LiveLine
  readonly #startMs: number

  constructor(what: string, clock: Clock, out: NodeJS.WriteStream = process.stderr) {
    this.#what = what
    this.#clock = clock
    this.#line = new LiveLine(clock, out)
    this.#startMs = clock.nowMs()
  }

  show(done: number, of: number): void {
    const sinceMs = this.#clock.nowMs() - this.#startMs
    this.#line.show(`${done} of ${of} ${this.#what}${this.#left(done, of, sinceMs)}`)
  }

  end(): void {
    this.#line.end()
  }

  #left(done: number, of: number, sinceMs: number): string {
    if (done === 0 || done === of) return ''
    const seconds = Math.ceil(((sinceMs / done) * (of - done)) / 1_000)
    const minutes = Math.floor(seconds / 60)
    return minutes > 0
      ? `, about ${minutes} min ${seconds % 60} s left`
      : `, about ${seconds} s left`
  }
}

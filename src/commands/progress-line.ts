import type { Clock } from '../base/scheduler.ts'

/** Where nobody watches, a line this often is enough. */
const lineMs = 10_000

/**
 * Progress of a known number of things, on stderr: one line that is redrawn where that is a
 * terminal, a line now and then where it is not.
 */
export class ProgressLine {
  readonly #what: string
  readonly #clock: Clock
  readonly #out: NodeJS.WriteStream
  readonly #startMs: number
  #writtenMs: number

  constructor(what: string, clock: Clock, out: NodeJS.WriteStream = process.stderr) {
    this.#what = what
    this.#clock = clock
    this.#out = out
    this.#startMs = clock.nowMs()
    this.#writtenMs = this.#startMs
  }

  show(done: number, of: number): void {
    const nowMs = this.#clock.nowMs()
    const text = `${done} of ${of} ${this.#what}${this.#left(done, of, nowMs - this.#startMs)}`
    if (this.#out.isTTY) {
      // To the start of the line, and clear it.
      this.#out.write(`\r\u001b[K${text}`)
    } else if (nowMs - this.#writtenMs >= lineMs && done < of) {
      this.#writtenMs = nowMs
      this.#out.write(`${text}\n`)
    }
  }

  end(): void {
    if (this.#out.isTTY) this.#out.write('\r\u001b[K')
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

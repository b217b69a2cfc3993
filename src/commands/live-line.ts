import type { Clock } from '../base/scheduler.ts'

/** Where nobody watches, a line this often is enough. */
const lineMs = 10_000

/**
 * How far long work is, on stderr: one line that is redrawn where that is a terminal, a line now
 * and then where it is not.
 */
export class LiveLine {
  readonly #clock: Clock
  readonly #out: NodeJS.WriteStream
  #writtenMs: number

  constructor(clock: Clock, out: NodeJS.WriteStream = process.stderr) {
    this.#clock = clock
    this.#out = out
    this.#writtenMs = clock.nowMs()
  }

  show(text: string): void {
    if (this.#out.isTTY) {
      // To the start of the line, and clear it; a longer text would scroll.
      this.#out.write(`\r\u001b[K${text.slice(0, Math.max(20, this.#out.columns - 1))}`)
      return
    }
    const nowMs = this.#clock.nowMs()
    if (nowMs - this.#writtenMs < lineMs) return
    this.#writtenMs = nowMs
    this.#out.write(`${text}\n`)
  }

  /** A line that stays, above the one that is redrawn. */
  keep(text: string): void {
    this.end()
    this.#out.write(`${text}\n`)
  }

  end(): void {
    if (this.#out.isTTY) this.#out.write('\r\u001b[K')
  }
}

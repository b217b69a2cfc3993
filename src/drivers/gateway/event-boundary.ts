const LF = 10
const CR = 13

/** Whether what was sent of an event stream ends between two events. */
export class EventBoundary {
  /** The last bytes, the latest lowest. */
  #tail = 0
  #bytes = 0

  push(payload: readonly Buffer[]): void {
    for (const piece of payload) {
      for (let i = Math.max(0, piece.length - 4); i < piece.length; i++) {
        this.#tail = (this.#tail << 8) | piece[i]!
      }
      this.#bytes += piece.length
    }
  }

  /** An empty line was the last; nothing sent yet counts as well. */
  get between(): boolean {
    if (this.#bytes === 0) return true
    const last = this.#tail & 0xff
    const before = (this.#tail >>> 8) & 0xff
    if (last === CR) return before === CR
    if (last !== LF) return false
    return before === LF || (before === CR && ((this.#tail >>> 16) & 0xff) === LF)
  }
}

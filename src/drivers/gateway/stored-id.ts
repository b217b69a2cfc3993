/** Longest answer in which the id of what was stored is looked for. */
const bodyBytesMax = 65_536

/** Reads along the answer to a call that stores something, for the id that later calls name. */
export class StoredIdReader {
  #pieces: Buffer[] = []
  #bytes = 0

  push(payload: readonly Buffer[]): void {
    for (const piece of payload) {
      this.#bytes += piece.length
      if (this.#bytes <= bodyBytesMax) this.#pieces.push(piece)
      else this.#pieces = []
    }
  }

  /** The top-level `id` of a JSON answer; null where there is none. */
  id(): string | null {
    try {
      const parsed = JSON.parse(Buffer.concat(this.#pieces).toString()) as { id?: unknown } | null
      return typeof parsed?.id === 'string' ? parsed.id : null
    } catch {
      return null
    }
  }
}

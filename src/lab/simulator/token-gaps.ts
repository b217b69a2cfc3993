/** Times between two tokens, each with the number of tokens it holds for. */
export class TokenGaps {
  #ms = new Float32Array(1_024)
  #tokens = new Uint32Array(1_024)
  #count = 0

  add(gapMs: number, tokens: number): void {
    if (this.#count === this.#ms.length) this.#grow()
    this.#ms[this.#count] = gapMs
    this.#tokens[this.#count] = tokens
    this.#count++
  }

  /** The gap, in ms, that the share `p` of all tokens does not exceed; NaN where there are none. */
  quantile(p: number): number {
    const order = Uint32Array.from({ length: this.#count }, (_, i) => i)
    order.sort((a, b) => this.#ms[a]! - this.#ms[b]!)
    let left = p * this.#tokens.subarray(0, this.#count).reduce((sum, tokens) => sum + tokens, 0)
    for (const i of order) {
      left -= this.#tokens[i]!
      if (left <= 0) return this.#ms[i]!
    }
    return Number.NaN
  }

  #grow(): void {
    const ms = new Float32Array(2 * this.#count)
    const tokens = new Uint32Array(2 * this.#count)
    ms.set(this.#ms)
    tokens.set(this.#tokens)
    this.#ms = ms
    this.#tokens = tokens
  }
}

/** More tokens than one entry holds; below, both fit into the 53 bits of a whole number. */
const tokenRoom = 2 ** 20

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

  /** The gaps, in ms, that these shares of all tokens do not exceed; NaN where there are none. */
  quantiles<Shares extends readonly number[]>(shares: Shares): { [At in keyof Shares]: number } {
    const sorted = this.#sorted()
    let all = 0
    for (const packed of sorted) all += packed % tokenRoom
    const at = (share: number): number => {
      let left = share * all
      for (const packed of sorted) {
        left -= packed % tokenRoom
        if (left <= 0) return gapOf(packed)
      }
      return Number.NaN
    }
    return shares.map(at) as { [At in keyof Shares]: number }
  }

  /**
   * Gap and tokens as one number each: the bits of a float above zero have its order, and numbers
   * are sorted many times faster than by a function that compares.
   */
  #sorted(): Float64Array {
    const bits = new Uint32Array(this.#ms.buffer, 0, this.#count)
    const packed = new Float64Array(this.#count)
    for (let i = 0; i < packed.length; i++) packed[i] = bits[i]! * tokenRoom + this.#tokens[i]!
    return packed.sort()
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

function gapOf(packed: number): number {
  const bits = Uint32Array.of(Math.floor(packed / tokenRoom))
  return new Float32Array(bits.buffer)[0]!
}

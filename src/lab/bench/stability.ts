/** Looks at how many calls are open, and tells whether they become ever more. */
export type Verdict =
  /** The server kept up with what was sent. */
  | 'stable'
  /** Calls piled up: times measured here grow with the length of the stage. */
  | 'overloaded'

/** Share of what was sent that may pile up. */
const piledShare = 0.05

/**
 * The slope of the open calls over the window, by least squares: overloaded where the growth that
 * it makes over the whole window is more than a twentieth of what was sent in it, and more than
 * chance makes of a steady load (twice the square root of the mean, and two).
 */
export class OpenCallTrend {
  #count = 0
  #sumT = 0
  #sumN = 0
  #sumTT = 0
  #sumTN = 0
  #first = 0
  #last = 0
  #most = 0

  look(nowMs: number, open: number): void {
    if (this.#count === 0) this.#first = nowMs
    this.#last = nowMs
    this.#most = Math.max(this.#most, open)
    const t = nowMs - this.#first
    this.#count++
    this.#sumT += t
    this.#sumN += open
    this.#sumTT += t * t
    this.#sumTN += t * open
  }

  get mean(): number | null {
    return this.#count === 0 ? null : this.#sumN / this.#count
  }

  get most(): number {
    return this.#most
  }

  /** Calls that were more at the end than at the beginning, by the slope. */
  get growth(): number {
    const spread = this.#count * this.#sumTT - this.#sumT ** 2
    if (spread <= 0) return 0
    const slope = (this.#count * this.#sumTN - this.#sumT * this.#sumN) / spread
    return slope * (this.#last - this.#first)
  }

  verdict(sent: number): Verdict {
    const { growth, mean } = this
    const chance = 2 * Math.sqrt(mean ?? 0) + 2
    return growth > piledShare * sent && growth > chance ? 'overloaded' : 'stable'
  }
}

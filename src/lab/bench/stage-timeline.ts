export interface TimeBin {
  sent: number
  done: number
  /** Refused, failed, timed out or not sent. */
  missed: number
  outputEvents: number
  /** Most calls open at once, of those looks that fell into it; null without a look. */
  inFlight: number | null
}

/** More of them are folded into half as many, twice as long. */
const binsMax = 240
const firstBinMs = 1_000

/** What happened when, in at most 240 bins of equal length. */
export class StageTimeline {
  readonly #startMs: number
  #binMs = firstBinMs
  #bins: TimeBin[] = []

  constructor(startMs: number) {
    this.#startMs = startMs
  }

  get binMs(): number {
    return this.#binMs
  }

  /** From the start of the stage. */
  get bins(): readonly TimeBin[] {
    return this.#bins
  }

  at(nowMs: number): TimeBin {
    let place = this.#placeOf(nowMs)
    while (place >= binsMax) {
      this.#fold()
      place = this.#placeOf(nowMs)
    }
    while (this.#bins.length <= place) {
      this.#bins.push({ sent: 0, done: 0, missed: 0, outputEvents: 0, inFlight: null })
    }
    return this.#bins[place]!
  }

  looked(nowMs: number, inFlight: number): void {
    const bin = this.at(nowMs)
    bin.inFlight = Math.max(bin.inFlight ?? 0, inFlight)
  }

  #placeOf(nowMs: number): number {
    return Math.max(0, Math.floor((nowMs - this.#startMs) / this.#binMs))
  }

  #fold(): void {
    const folded: TimeBin[] = []
    for (let i = 0; i < this.#bins.length; i += 2) {
      const [one, other] = [this.#bins[i]!, this.#bins[i + 1]]
      folded.push(other === undefined ? one : sumOf(one, other))
    }
    this.#bins = folded
    this.#binMs *= 2
  }
}

function sumOf(a: TimeBin, b: TimeBin): TimeBin {
  const looks = [a.inFlight, b.inFlight].filter((look) => look !== null)
  return {
    sent: a.sent + b.sent,
    done: a.done + b.done,
    missed: a.missed + b.missed,
    outputEvents: a.outputEvents + b.outputEvents,
    inFlight: looks.length === 0 ? null : Math.max(...looks),
  }
}

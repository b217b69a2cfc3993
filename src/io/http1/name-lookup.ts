import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Clock } from '../../base/scheduler.ts'

type Answer = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void

interface Found {
  readonly atMs: number
  readonly address: string | LookupAddress[]
  readonly family: number | undefined
}

/** How long an answer is used again: a name that points elsewhere is followed within this time. */
const answerMs = 1_000

/**
 * Looks the name of one host up, once for all who ask at the same time, and at most once a second.
 * The system's resolver is asked on few threads: a burst of new connections would wait for it, and
 * with it those to all other engines.
 */
export class NameLookup {
  readonly #clock: Clock
  readonly #ask: LookupFunction
  #found: Found | null = null
  #waiting: Answer[] = []

  constructor(clock: Clock, ask: LookupFunction = systemLookup as LookupFunction) {
    this.#clock = clock
    this.#ask = ask
  }

  /** What `net.connect` takes. The options are the same each time. */
  readonly lookup: LookupFunction = (host, options, answer) => {
    const found = this.#found
    if (found !== null && this.#clock.nowMs() - found.atMs < answerMs) {
      process.nextTick(answer, null, found.address, found.family)
      return
    }
    this.#waiting.push(answer as Answer)
    if (this.#waiting.length === 1) this.#lookUp(host, options)
  }

  /** The address did not work: the next one who asks gets a new answer. */
  forget(): void {
    this.#found = null
  }

  #lookUp(host: string, options: LookupOptions): void {
    this.#ask(host, options, (error, address, family) => {
      const waiting = this.#waiting
      this.#waiting = []
      if (error === null) this.#found = { atMs: this.#clock.nowMs(), address, family }
      for (const answer of waiting) answer(error, address, family)
    })
  }
}

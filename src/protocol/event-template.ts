/**
 * Events of one stream differ, most of the time, in one string alone. A template is such an event
 * without that string; an event that fits it need not be parsed to be understood.
 */
import type { Fragment } from './answer-state.ts'
import { holdsAt } from './bytes.ts'
import { type Json, parseJson } from './json.ts'

const eventBytesMax = 4_096
/** Templates in a row that fitted no event; after so many the stream is taken to have none. */
const failuresMax = 8

const quote = 0x22
const backslash = 0x5c

export interface Fit {
  /** Where the string's inside lies in the event that fitted. */
  start: number
  end: number
}

export class EventTemplate {
  #prefix = Buffer.alloc(0)
  #suffix = Buffer.alloc(0)
  #fragment: Fragment | null = null
  #failures = 0
  #fitted = true

  /** The fragment of the event that the template was made from. */
  get fragment(): Fragment | null {
    return this.#fragment
  }

  /** Whether the event is the template with another string in it; writes into `fit` where. */
  fits(bytes: Buffer, start: number, end: number, fit: Fit): boolean {
    if (this.#fragment === null) return false
    const from = start + this.#prefix.length
    const to = end - this.#suffix.length
    if (from > to) return false
    if (!isInsideOfString(bytes, from, to)) return false
    if (!holdsAt(bytes, to, this.#suffix) || !holdsAt(bytes, start, this.#prefix)) return false
    this.#fitted = true
    fit.start = from
    fit.end = to
    return true
  }

  /**
   * Makes the event the template. `reads` parses an event and returns its fragment: the place found
   * is right if a probe put there comes out as the fragment's text.
   */
  learn(
    bytes: Buffer,
    start: number,
    end: number,
    fragment: Fragment,
    reads: (json: Json | undefined) => Fragment | null,
  ): void {
    this.#failures = this.#fitted ? 0 : this.#failures + 1
    this.#fragment = null
    if (this.#failures >= failuresMax || end - start > eventBytesMax) return
    const event = Buffer.from(bytes.subarray(start, end))
    const inside = JSON.stringify(fragment.text).slice(1, -1)
    const at = placeOf(event, fragment.field, inside)
    if (at < 0) return
    const prefix = event.subarray(0, at)
    const suffix = event.subarray(at + Buffer.byteLength(inside))
    const probe = `probe ${fragment.text.length}`
    const read = reads(parseJson(`${prefix}${probe}${suffix}`))
    if (read?.text !== probe || read.part !== fragment.part) return
    this.#prefix = prefix
    this.#suffix = suffix
    this.#fragment = fragment
    this.#fitted = false
  }
}

/** Where the inside of `"field":"inside"` begins, if that stands there just once. */
function placeOf(event: Buffer, field: string, inside: string): number {
  for (const separator of ['":"', '": "']) {
    const key = `"${field}${separator}`
    const whole = `${key}${inside}"`
    const at = event.indexOf(whole)
    if (at >= 0) return event.lastIndexOf(whole) === at ? at + Buffer.byteLength(key) : -1
  }
  return -1
}

function isInsideOfString(bytes: Buffer, start: number, end: number): boolean {
  let at = start
  while (at < end) {
    const byte = bytes[at]
    if (byte === quote || byte < 0x20) return false
    at += byte === backslash ? 2 : 1
  }
  return at === end
}

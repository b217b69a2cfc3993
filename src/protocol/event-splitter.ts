/** Server-sent events out of bytes cut anywhere (WHATWG HTML, section 9.2). */
import { holdsAt } from './bytes.ts'
import { protocolLimits } from './limits.ts'

/** Takes one event's data; the bytes belong to the splitter and change after the call. */
export type EventSink = (bytes: Buffer, start: number, end: number, named: EventName) => void

/** The one event name that matters where the data does not say what it is. */
export type EventName = 'error' | 'other'

const lf = 0x0a
const cr = 0x0d
const space = 0x20
const colon = 0x3a
const carryKeptBytes = 16 * 1024
const empty = Buffer.alloc(0)

/**
 * Most writes hold whole events, and are read where they lie. What is left of an event at the end
 * of a write is copied into a buffer that grows to `eventBytesMax`; past it the splitter gives up.
 */
export class EventSplitter {
  readonly #sink: EventSink
  #carry = empty
  /** Bytes in `#carry`: an event that has begun, and has not ended. */
  #carried = 0
  /** Where in it the search for the end of a line goes on, and where that line begins. */
  #searched = 0
  #lineStart = 0
  /** The data line met in this event; -1 before there is one. */
  #dataStart = -1
  #dataEnd = -1
  /** Earlier data lines, where an event has several. */
  #lines: Buffer[] = []
  #name: EventName = 'other'
  /** The last byte was a CR: an LF that follows it belongs to it. */
  #afterCr = false
  #gaveUp = false

  constructor(sink: EventSink) {
    this.#sink = sink
  }

  get gaveUp(): boolean {
    return this.#gaveUp
  }

  /** Whether the next byte begins an event. */
  get between(): boolean {
    return this.#carried === 0 && !this.#afterCr && !this.#gaveUp
  }

  push(chunk: Buffer): void {
    if (this.#gaveUp || chunk.length === 0) return
    if (this.#carried === 0) {
      this.#keep(chunk, this.#split(chunk, chunk.length))
      return
    }
    this.#append(chunk, 0)
    if (this.#gaveUp) return
    const eventStart = this.#split(this.#carry, this.#carried)
    if (eventStart > 0) this.#keep(this.#carry.subarray(0, this.#carried), eventStart)
  }

  /** Handles every whole line; returns where the unfinished event begins. */
  #split(bytes: Buffer, end: number): number {
    let eventStart = 0
    let line = this.#lineStart
    let from = this.#searched
    let nextCr = bytes.indexOf(cr, from)
    for (;;) {
      if (this.#afterCr && from < end) {
        this.#afterCr = false
        if (bytes[from] === lf) {
          from++
          line = from
          if (this.#dataStart < 0 && this.#lines.length === 0) eventStart = from
        }
      }
      let at = bytes[from] === lf ? from : bytes.indexOf(lf, from)
      if (nextCr >= 0 && nextCr < from) nextCr = bytes.indexOf(cr, from)
      if (nextCr >= 0 && nextCr < end && (at < 0 || nextCr < at)) {
        at = nextCr
        this.#afterCr = true
      }
      if (at < 0 || at >= end) break
      from = at + 1
      if (at > line) this.#line(bytes, line, at)
      else {
        this.#dispatch(bytes)
        eventStart = from
      }
      line = from
    }
    this.#searched = end
    this.#lineStart = line
    return eventStart
  }

  #line(bytes: Buffer, start: number, end: number): void {
    const valueAt = fieldValue(bytes, start, end, dataField)
    if (valueAt >= 0) {
      if (this.#dataStart >= 0) this.#lines.push(this.#copyData(bytes))
      this.#dataStart = valueAt
      this.#dataEnd = end
      return
    }
    const nameAt = fieldValue(bytes, start, end, eventField)
    if (nameAt < 0) return
    this.#name = bytes.toString('latin1', nameAt, end) === 'error' ? 'error' : 'other'
  }

  #dispatch(bytes: Buffer): void {
    if (this.#dataStart >= 0) {
      if (this.#lines.length === 0) {
        this.#sink(bytes, this.#dataStart, this.#dataEnd, this.#name)
      } else {
        const joined = joinLines([...this.#lines, this.#copyData(bytes)])
        this.#sink(joined, 0, joined.length, this.#name)
      }
    }
    this.#dataStart = -1
    this.#lines = []
    this.#name = 'other'
  }

  #copyData(bytes: Buffer): Buffer {
    return Buffer.from(bytes.subarray(this.#dataStart, this.#dataEnd))
  }

  /** Keeps the unfinished event that begins at `from`, and moves all positions to its new place. */
  #keep(bytes: Buffer, from: number): void {
    this.#carried = 0
    this.#searched -= from
    this.#lineStart -= from
    if (this.#dataStart >= 0) {
      this.#dataStart -= from
      this.#dataEnd -= from
    }
    if (from < bytes.length) this.#append(bytes, from)
    else if (this.#carry.length > carryKeptBytes) this.#carry = empty
  }

  #append(bytes: Buffer, from: number): void {
    const needed = this.#carried + bytes.length - from
    if (needed > protocolLimits.eventBytesMax) {
      this.#gaveUp = true
      this.#carry = empty
      this.#lines = []
      return
    }
    if (needed > this.#carry.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(1_024, 2 ** Math.ceil(Math.log2(needed))))
      this.#carry.copy(grown, 0, 0, this.#carried)
      this.#carry = grown
    }
    bytes.copy(this.#carry, this.#carried, from)
    this.#carried = needed
  }
}

const dataField = Buffer.from('data')
const eventField = Buffer.from('event')

/** Where the field's value begins in the line, or -1 when the line is another field. */
function fieldValue(bytes: Buffer, start: number, end: number, field: Buffer): number {
  const nameEnd = start + field.length
  if (nameEnd > end || !holdsAt(bytes, start, field)) return -1
  if (nameEnd === end) return end
  if (bytes[nameEnd] !== colon) return -1
  return bytes[nameEnd + 1] === space && nameEnd + 1 < end ? nameEnd + 2 : nameEnd + 1
}

function joinLines(lines: Buffer[]): Buffer {
  return Buffer.from(lines.map((line) => line.toString('latin1')).join('\n'), 'latin1')
}

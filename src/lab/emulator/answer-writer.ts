import type { ServerResponse } from 'node:http'
import { createGzip, type Gzip, constants as zlibConstants } from 'node:zlib'
import type { Scheduler } from '../../base/scheduler.ts'
import type { Faults } from './faults.ts'

/** Time for the bytes before a reset to reach the client, which would discard them with it. */
const resetGraceMs = 20

type Ending = 'end' | 'reset' | 'close'

/** Something to do in its turn: bytes to write, a pause (null is for ever), or the end. */
type Step = { readonly bytes: Buffer } | { readonly waitMs: number | null } | Ending

/**
 * Writes an answer's body event by event, with what the faults do to it: splitting, bundling,
 * stalling, cutting, resetting. Everything goes through one queue, so that a stall holds back what
 * comes behind it.
 */
export class AnswerWriter {
  readonly #response: ServerResponse
  readonly #faults: Faults
  readonly #wall: Scheduler
  readonly #gzip: Gzip | undefined
  readonly #queue: Step[] = []
  #bundle: Buffer[] = []
  #events = 0
  #bytes = 0
  #waiting = false
  /** The end has been decided on; it may still wait in the queue. */
  #over = false
  #closed = false

  constructor(response: ServerResponse, faults: Faults, wall: Scheduler) {
    this.#response = response
    this.#faults = faults
    this.#wall = wall
    if (faults.gzip !== true) return
    this.#gzip = createGzip({ flush: zlibConstants.Z_SYNC_FLUSH })
    this.#gzip.on('data', (bytes: Buffer) => this.#put(bytes))
    this.#gzip.on('end', () => response.end())
  }

  /** Writes one event. `failing` says how the API words the engine's death, for an error fault. */
  event(text: string, failing: () => readonly string[]): void {
    if (this.#over) return
    const { breakOff, stall } = this.#faults
    if (stall?.afterEvents === this.#events) this.#push({ waitMs: stall.ms })
    if (breakOff?.afterEvents !== this.#events) {
      this.#events += 1
      this.#write(text)
    } else if (breakOff.how === 'error') {
      for (const line of failing()) this.#write(line)
      this.#finish('end')
    } else {
      this.#finish(breakOff.how)
    }
  }

  end(): void {
    if (!this.#over) this.#finish('end')
  }

  #finish(how: Ending): void {
    this.#flush()
    this.#over = true
    this.#push(how)
  }

  #write(text: string): void {
    const line = this.#faults.crlf === true ? text.replaceAll('\n', '\r\n') : text
    this.#bundle.push(Buffer.from(line))
    if (this.#bundle.length >= (this.#faults.eventsPerWrite ?? 1)) this.#flush()
  }

  #flush(): void {
    if (this.#bundle.length === 0) return
    this.#push({ bytes: Buffer.concat(this.#bundle) })
    this.#bundle = []
  }

  #push(step: Step): void {
    this.#queue.push(step)
    this.#drain()
  }

  #drain(): void {
    while (!this.#waiting) {
      const step = this.#queue.shift()
      if (step === undefined) return
      if (typeof step === 'string') this.#close(step)
      else if ('bytes' in step) this.#send(step.bytes)
      else this.#wait(step.waitMs)
    }
  }

  #send(bytes: Buffer): void {
    if (this.#gzip !== undefined) this.#gzip.write(bytes)
    else this.#put(bytes)
  }

  #put(bytes: Buffer): void {
    const { breakOff, splitBytes } = this.#faults
    const room = (breakOff?.atByte ?? Number.POSITIVE_INFINITY) - this.#bytes
    const part = room < bytes.length ? bytes.subarray(0, Math.max(0, room)) : bytes
    this.#bytes += part.length
    const size = splitBytes ?? part.length
    for (let at = 0; at < part.length; at += size) {
      this.#writePiece(part.subarray(at, at + size))
    }
    if (breakOff === undefined || part.length === bytes.length) return
    this.#over = true
    this.#close(breakOff.how === 'error' ? 'reset' : breakOff.how)
  }

  /** Node joins the writes of one tick into one chunk, unless the socket is corked already. */
  #writePiece(piece: Buffer): void {
    const { socket } = this.#response
    socket?.cork()
    this.#response.write(piece)
    socket?.uncork()
  }

  #wait(ms: number | null): void {
    this.#waiting = true
    if (ms === null) return
    this.#wall.at(this.#wall.nowMs() + ms, () => {
      this.#waiting = false
      this.#drain()
    })
  }

  #close(how: Ending): void {
    if (this.#closed) return
    this.#closed = true
    this.#waiting = true
    const { socket } = this.#response
    if (how === 'reset') {
      this.#wall.at(this.#wall.nowMs() + resetGraceMs, () => socket?.resetAndDestroy())
    } else if (how === 'close') {
      socket?.destroySoon()
    } else if (this.#gzip !== undefined) {
      this.#gzip.end()
    } else {
      this.#response.end()
    }
  }
}

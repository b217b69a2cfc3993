import type { BodyPool } from './body-pool.ts'

/** Smaller bodies come out of Node's own pool, and go with the garbage. */
const pooledBytesMin = 4_096
/** Larger ones are gathered piece by piece: a declared length alone takes no memory. */
const pooledBytesMax = 1_048_576
/** To begin with, where no length was declared. */
const unknownBytes = 65_536

const noBytes = Buffer.alloc(0)
const noPieces: Buffer[] = []

/** A request's body as it comes in, in one piece of memory at the end. */
export class RequestBody {
  readonly #pool: BodyPool
  #memory: Buffer
  #pieces = noPieces
  #bytes = 0
  #released = false

  /** @param declaredBytes -1 where the client did not say */
  constructor(pool: BodyPool, declaredBytes: number) {
    this.#pool = pool
    const bytes = declaredBytes < 0 ? unknownBytes : Math.min(declaredBytes, pooledBytesMax)
    this.#memory = bytes < pooledBytesMin ? Buffer.allocUnsafe(bytes) : pool.take(bytes)
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Takes a copy. False where the router holds as many bytes of bodies as it may. */
  append(piece: Buffer): boolean {
    if (!this.#pool.hold(piece.length)) return false
    const before = this.#bytes
    this.#bytes += piece.length
    if (this.#pieces.length === 0) {
      if (this.#bytes <= this.#memory.length) {
        piece.copy(this.#memory, before)
        return true
      }
      this.#pieces = [this.#memory.subarray(0, before)]
    }
    this.#pieces.push(Buffer.from(piece))
    return true
  }

  /** The whole body; good until `release`. */
  whole(): Buffer {
    if (this.#pieces.length === 0) return this.#memory.subarray(0, this.#bytes)
    const whole = Buffer.concat(this.#pieces, this.#bytes)
    this.#pieces = noPieces
    this.#memory = whole
    return whole
  }

  /** @param unused nothing holds a part of it any more, so its memory may serve another body */
  release(unused: boolean): void {
    if (this.#released) return
    this.#released = true
    this.#pool.unhold(this.#bytes)
    if (unused && this.#pieces.length === 0) this.#pool.give(this.#memory)
    this.#memory = noBytes
    this.#pieces = noPieces
  }
}

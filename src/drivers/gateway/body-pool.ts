/** Sizes that are kept, as powers of two: 4 KiB to 1 MiB. */
const smallestBits = 12
const largestBits = 20
/** Kept for the next body, over all sizes. */
const keptBytesMax = 64 * 1_048_576
/** Of all bodies that are held at once: those that come in, and those that may be sent again. */
const heldBytesMax = 1_024 * 1_048_576

/**
 * Memory for bodies, used again and again. Fresh memory for each would cost more than the reading:
 * the kernel clears its pages, and V8 counts it until it collects everything.
 */
export class BodyPool {
  readonly #kept: Buffer[][] = Array.from({ length: largestBits - smallestBits + 1 }, () => [])
  #keptBytes = 0
  #heldBytes = 0

  /** Counts bytes of a body that comes in. False where they would be too many. */
  hold(bytes: number): boolean {
    if (this.#heldBytes + bytes > heldBytesMax) return false
    this.#heldBytes += bytes
    return true
  }

  unhold(bytes: number): void {
    this.#heldBytes -= bytes
  }

  /** A buffer of at least so many bytes, with whatever is in it. */
  take(bytes: number): Buffer {
    const bits = bitsFor(bytes)
    if (bits > largestBits) return Buffer.allocUnsafe(bytes)
    const kept = this.#kept[bits - smallestBits]!.pop()
    if (kept === undefined) return Buffer.allocUnsafeSlow(2 ** bits)
    this.#keptBytes -= kept.length
    return kept
  }

  /** Nobody may hold any part of it any more. */
  give(buffer: Buffer): void {
    const bits = bitsFor(buffer.length)
    if (bits > largestBits || buffer.length !== 2 ** bits) return
    if (this.#keptBytes + buffer.length > keptBytesMax) return
    this.#keptBytes += buffer.length
    this.#kept[bits - smallestBits]!.push(buffer)
  }
}

function bitsFor(bytes: number): number {
  return Math.max(smallestBits, 32 - Math.clz32(Math.max(0, bytes - 1)))
}

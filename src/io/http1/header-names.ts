/** Header names as strings that exist once, found by their bytes. */

interface Known {
  readonly name: string
  readonly bytes: Uint8Array
}

/** A power of two. A name that meets another in its place pushes it out. */
const places = 512
const bytesMax = 40

const known: (Known | undefined)[] = new Array(places).fill(undefined)

/** What `hashStep` begins with. */
export const hashStart = 0

/** Takes one more byte of a name into its hash. */
export function hashStep(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0
}

/**
 * The name in `buffer[start, end)`, whose hash is given. Most heads bring the same few names again
 * and again: a string that was made before is compared and looked up faster than a new one.
 */
export function nameAt(buffer: Buffer, start: number, end: number, hash: number): string {
  const place = (hash ^ (hash >>> 9)) & (places - 1)
  const there = known[place]
  if (there !== undefined && isThere(there.bytes, buffer, start, end)) return there.name
  const name = buffer.toString('latin1', start, end)
  if (end - start <= bytesMax) {
    known[place] = { name, bytes: new Uint8Array(buffer.subarray(start, end)) }
  }
  return name
}

function isThere(bytes: Uint8Array, buffer: Buffer, start: number, end: number): boolean {
  const { length } = bytes
  if (length !== end - start) return false
  for (let i = 0; i < length; i++) if (bytes[i] !== buffer[start + i]) return false
  return true
}

/** Whether `raw` is the name that `lower` is in lower case. */
export function isName(raw: string, lower: string): boolean {
  const { length } = lower
  if (raw.length !== length) return false
  for (let i = 0; i < length; i++) {
    const code = raw.charCodeAt(i)
    const lowered = code >= 0x41 && code <= 0x5a ? code | 0x20 : code
    if (lowered !== lower.charCodeAt(i)) return false
  }
  return true
}

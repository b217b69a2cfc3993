/** An answer's texts and tool calls, gathered from their fragments. */
import { parseJson } from './json.ts'
import { protocolLimits } from './limits.ts'
import type { AnswerPart } from './prompt-hasher.ts'

interface Part {
  readonly type: AnswerPart['type']
  name: string
  /** All of the text so far, where it came as one string; null where it is in `raw`. */
  only: string | null
  /** The text as the inside of a JSON string: a fragment may be half of a surrogate pair. */
  raw: Buffer
  length: number
}

const noBytes = Buffer.alloc(0)

/** Fragments of tool calls carry a name and an id only once; all of them carry the index (F009). */
export class AnswerParts {
  readonly #parts = new Map<number, Part>()
  /** The part that bytes were added to last, and its key. */
  #current: Part | undefined
  #currentKey = 0
  #bytes = 0
  #overflowed = false

  /** Parts come out in the order of their keys. */
  text(key: number, fragment: string): void {
    this.#addString(this.#part(key, 'text'), fragment)
  }

  toolCall(key: number, name: string, fragment: string): void {
    const part = this.#part(key, 'tool-call')
    if (name !== '' && part !== null) part.name = name
    this.#addString(part, fragment)
  }

  /** Adds bytes from inside a JSON string to a part that has begun. */
  raw(key: number, bytes: Buffer, start: number, end: number): void {
    if (this.#current === undefined || this.#currentKey !== key) {
      this.#current = this.#parts.get(key)
      this.#currentKey = key
    }
    const part = this.#current
    if (part === undefined) return
    this.#writeOnly(part)
    this.#add(part, bytes, start, end)
  }

  /** The whole answer; null when it was too large to keep. */
  whole(): AnswerPart[] | null {
    if (this.#overflowed) return null
    const answer: AnswerPart[] = []
    for (const [, part] of [...this.#parts].sort(([a], [b]) => a - b)) {
      const text = part.only ?? parseJson(`"${part.raw.toString('utf8', 0, part.length)}"`)
      if (typeof text !== 'string') return null
      if (part.type === 'text') answer.push({ type: 'text', text })
      else answer.push({ type: 'tool-call', name: part.name, arguments: text })
    }
    return answer
  }

  #part(key: number, type: AnswerPart['type']): Part | null {
    const known = this.#parts.get(key)
    if (known !== undefined) return known
    if (this.#parts.size >= protocolLimits.answerPartsMax) {
      this.#overflowed = true
      return null
    }
    const part: Part = { type, name: '', only: '', raw: noBytes, length: 0 }
    this.#parts.set(key, part)
    return part
  }

  #addString(part: Part | null, fragment: string): void {
    if (part === null || fragment === '') return
    if (part.only === '') {
      // A whole answer is one string, which need not be taken apart and put together again.
      part.only = fragment
      this.#count(fragment.length)
      return
    }
    this.#writeOnly(part)
    this.#write(part, fragment)
  }

  /** More follows the one string. */
  #writeOnly(part: Part): void {
    const { only } = part
    part.only = null
    if (only === null || only === '') return
    this.#bytes -= only.length
    this.#write(part, only)
  }

  #write(part: Part, fragment: string): void {
    const bytes = Buffer.from(JSON.stringify(fragment))
    this.#add(part, bytes, 1, bytes.length - 1)
  }

  /** False where all of it is too large to keep. */
  #count(bytes: number): boolean {
    this.#bytes += bytes
    if (this.#bytes > protocolLimits.answerBytesMax) this.#overflowed = true
    if (!this.#overflowed) return true
    this.#parts.clear()
    this.#current = undefined
    return false
  }

  #add(part: Part, bytes: Buffer, start: number, end: number): void {
    if (!this.#count(end - start)) return
    const needed = part.length + end - start
    if (needed > part.raw.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(256, 2 * needed))
      part.raw.copy(grown, 0, 0, part.length)
      part.raw = grown
    }
    for (let at = start, to = part.length; at < end; at++, to++) part.raw[to] = bytes[at]
    part.length = needed
  }
}

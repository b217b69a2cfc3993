/** An answer's texts and tool calls, gathered from their fragments. */
import { parseJson } from './json.ts'
import { protocolLimits } from './limits.ts'
import type { AnswerPart } from './prompt-hasher.ts'

interface Part {
  readonly type: AnswerPart['type']
  name: string
  /** The text as the inside of a JSON string: a fragment may be half of a surrogate pair. */
  raw: Buffer
  length: number
}

/** Fragments of tool calls carry a name and an id only once; all of them carry the index (F009). */
export class AnswerParts {
  readonly #parts = new Map<number, Part>()
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
    const part = this.#parts.get(key)
    if (part !== undefined) this.#add(part, bytes, start, end)
  }

  /** The whole answer; null when it was too large to keep. */
  whole(): AnswerPart[] | null {
    if (this.#overflowed) return null
    const answer: AnswerPart[] = []
    for (const [, part] of [...this.#parts].sort(([a], [b]) => a - b)) {
      const text = parseJson(`"${part.raw.toString('utf8', 0, part.length)}"`)
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
    const part: Part = { type, name: '', raw: Buffer.alloc(0), length: 0 }
    this.#parts.set(key, part)
    return part
  }

  #addString(part: Part | null, fragment: string): void {
    if (part === null || fragment === '') return
    const bytes = Buffer.from(JSON.stringify(fragment))
    this.#add(part, bytes, 1, bytes.length - 1)
  }

  #add(part: Part, bytes: Buffer, start: number, end: number): void {
    this.#bytes += end - start
    if (this.#overflowed || this.#bytes > protocolLimits.answerBytesMax) {
      this.#overflowed = true
      this.#parts.clear()
      return
    }
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

/** An answer as one JSON text. */
import { parseJson } from './json.ts'
import { protocolLimits } from './limits.ts'
import type { PromptRead } from './prompt-hasher.ts'
import { StateReader } from './state-reader.ts'
import { findTailUsage } from './tail-usage.ts'

/** A large text is only looked at near its end, for usage. */
export class JsonReader extends StateReader {
  #chunks: Buffer[] = []
  #bytes = 0
  #whole: boolean
  readonly gaveUp = false

  constructor(prompt: PromptRead | null, whole: boolean) {
    super(prompt)
    this.#whole = whole
  }

  push(payload: Buffer): void {
    this.#chunks.push(payload)
    this.#bytes += payload.length
    if (this.#bytes > protocolLimits.jsonBodyBytesMax) this.#whole = false
    if (this.#whole) return
    const first = this.#chunks[0].length
    if (this.#chunks.length > 1 && this.#bytes - first >= protocolLimits.jsonTailBytes) {
      this.#chunks = [Buffer.concat(this.#chunks).subarray(-protocolLimits.jsonTailBytes)]
      this.#bytes = protocolLimits.jsonTailBytes
    }
  }

  end(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    this.#chunks = []
    if (!this.#whole) {
      this.#readTail(body.toString('utf8', Math.max(0, body.length - protocolLimits.jsonTailBytes)))
      return
    }
    const json = parseJson(body.toString())
    if (json === undefined) return
    this.read(json)
    this.state.complete = true
  }

  #readTail(tail: string): void {
    const trimmed = tail.trimEnd()
    if (!trimmed.endsWith('}') && !trimmed.endsWith(']')) return
    this.state.complete = true
    this.state.outputEvents = 1
    this.state.tally.read(findTailUsage(trimmed))
  }
}

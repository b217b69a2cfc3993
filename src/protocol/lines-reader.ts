/** An answer as lines of JSON. */
import { parseJson } from './json.ts'
import { protocolLimits } from './limits.ts'
import { StateReader } from './state-reader.ts'

/** Ollama's own API. */
export class LinesReader extends StateReader {
  #rest = ''
  #gaveUp = false
  readonly #decoder = new TextDecoder()

  get gaveUp(): boolean {
    return this.#gaveUp
  }

  push(payload: Buffer): void {
    if (this.#gaveUp) return
    const lines = (this.#rest + this.#decoder.decode(payload, { stream: true })).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') this.read(parseJson(line))
    if (this.#rest.length > protocolLimits.eventBytesMax) {
      this.#gaveUp = true
      this.#rest = ''
    }
  }

  end(): void {
    if (this.#rest !== '') this.read(parseJson(this.#rest))
    this.#rest = ''
  }
}

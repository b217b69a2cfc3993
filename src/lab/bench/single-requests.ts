import { type Random, randomInt, seededRandom } from '../../base/random.ts'
import type { BenchTask, Message, TaskSource } from './bench-task.ts'
import { blockText, tokenBytes } from './block-text.ts'

export interface SingleRequestOptions {
  /** Of each request's own. */
  readonly promptTokens: number
  readonly outputTokens: number
  /** Different system prompts that requests share; 0 for none. */
  readonly prefixes: number
  readonly prefixTokens: number
}

/**
 * Requests without end, each with a text of its own that begins unlike any other, behind one of a
 * few shared system prompts where there are some.
 * @param salt two sources of other salts share no text
 */
export class SingleRequests implements TaskSource {
  readonly #options: SingleRequestOptions
  readonly #random: Random
  readonly #salt: number
  readonly #systems: readonly string[]

  constructor(options: SingleRequestOptions, seed: number, salt: number) {
    this.#options = options
    this.#random = seededRandom(seed)
    this.#salt = salt
    // Of the salt alone: stages and rounds share their system prompts, as users do.
    this.#systems = Array.from({ length: options.prefixes }, (_, i) =>
      text(options.prefixTokens, i << 16, 0, salt),
    )
  }

  next(): BenchTask {
    const { promptTokens, outputTokens } = this.#options
    const lo = this.#random.next() * 4294967296
    const hi = this.#random.next() * 4294967296
    const systems = this.#systems
    const system = systems.length === 0 ? null : systems[randomInt(this.#random, systems.length)]!
    const messages = (): Message[] => {
      const user: Message = { role: 'user', content: text(promptTokens, lo, hi, this.#salt) }
      return system === null ? [user] : [{ role: 'system', content: system }, user]
    }
    return { turns: [{ gapMs: 0, outputTokens, messages }] }
  }
}

/** Of a text's pieces; the number is of no importance. */
const pieceTokens = 64

function text(tokens: number, lo: number, hi: number, salt: number): string {
  let made = ''
  for (let block = 0; block * pieceTokens < tokens; block++) {
    made += blockText(lo + block, hi, salt, pieceTokens)
  }
  return made.slice(0, tokens * tokenBytes)
}

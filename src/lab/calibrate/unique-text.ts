import type { Random } from '../../base/random.ts'
import { prose } from '../demo/agent-text.ts'

/** `prose` makes a token of so many characters, by the emulator's tokenizer. */
const proseCharactersPerToken = 4
/** A prompt of fewer tokens does not say how many characters one has. */
const tellingTokens = 200

/** Text of about so many tokens that no cache can know. It learns how many tokens a text has. */
export class UniqueText {
  readonly #random: Random
  #charactersPerToken = proseCharactersPerToken

  constructor(random: Random) {
    this.#random = random
  }

  next(tokens: number): string {
    // The first block differs, and with it all that follow.
    const mark = Math.floor(this.#random.next() * 2 ** 40).toString(36)
    const characters = tokens * this.#charactersPerToken
    return `${mark} ${prose(this.#random, characters / proseCharactersPerToken)}`.slice(
      0,
      Math.max(mark.length, characters),
    )
  }

  /** A prompt of that text was counted. */
  counted(text: string, tokens: number): void {
    if (tokens >= tellingTokens) this.#charactersPerToken = text.length / tokens
  }
}

/** Made-up text that has the sizes and the repetition of a coding agent's conversation. */
import { type Random, randomInt } from '../../base/random.ts'

const words = (
  'the function returns when a file is missing so check that handler before a test ' +
  'build cache module router request token stream error value parse import const result path ' +
  'update expected output line branch commit diff review patch replica prefix block queue'
).split(' ')

const bytesPerToken = 4

/** About that many tokens of words and lines. */
export function prose(random: Random, tokens: number): string {
  let text = ''
  while (text.length < tokens * bytesPerToken) {
    text += words[randomInt(random, words.length)]
    text += randomInt(random, 12) === 0 ? '.\n' : ' '
  }
  return text
}

import { type Random, randomInt, seededRandom } from '../../base/random.ts'

// Three letters and a space are one token of the emulator's tokenizer, so that an answer sent back
// as part of the next prompt has the same tokens as when it was generated.
const words = `
  all and any ask bad big box boy bus but buy can car cat cow cry cup cut day dog dry
  eat egg end eye far few fit fly for fun get hat hot how ice ink its jam job key kid
  law leg let lie low man map may mix mud net new nut odd off oil old one our out own
  pay pen pig pot put red rib row run sad say sea set sit six sky son sun tax tea ten
  the tie top toy try two use van war way web wet who why win yes yet you zoo
`
  .trim()
  .split(/\s+/)
const openings = ['Well', 'This', 'Here', 'Then', 'Sure', 'Okay', 'Fine', 'Good', 'When', 'That']

/** The text of each token of an answer. The first has no leading space: clients trim answers. */
export function answerTokens(seed: number, count: number): string[] {
  const random = seededRandom(seed)
  const tokens = [openings[randomInt(random, openings.length)]]
  while (tokens.length < count) tokens.push(` ${words[randomInt(random, words.length)]}`)
  return tokens
}

/**
 * How long an answer gets when nothing limits it: between a quarter of the mean and four times it,
 * skewed as real ones are.
 */
export function naturalLength(random: Random, meanTokens: number): number {
  const draw = -Math.log(1 - random.next()) * meanTokens
  return Math.round(Math.min(4 * meanTokens, Math.max(meanTokens / 4, draw)))
}

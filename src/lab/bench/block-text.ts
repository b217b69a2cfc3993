import type { BlockChain } from '../../core/block-chain.ts'

/** Of a word with its space: the lab's measure of a token. */
export const tokenBytes = 4

/**
 * Common words of three letters. With its space each is four bytes, which the common tokenizers
 * make one token of: a text has as many tokens as words.
 */
const words = (
  'the and for are but not you all any can had her was one our out day get has him his how man ' +
  'new now old see two way who boy did its let put say she too use dad mom big bad red set run ' +
  'end far few got own off try why yet ask add act age ago air arm art bag ball bar bed bit box ' +
  'bus buy car cat cup cut die dog dry due ear eat egg eye fit fly fun gas god gun guy hit hot ' +
  'ice job key kid law lay led leg lie lot low map may men met mix nor oil pay per pop raw rest ' +
  'sea sex sir sit six sky son sun tax tea ten tie tip top toy via war wet win yes hat hub jet'
)
  .split(' ')
  .filter((word) => word.length === tokenBytes - 1)
  .slice(0, 128)
  .map((word) => `${word} `)

/**
 * The text of one block, made of its hash: equal hashes give equal texts, others differ.
 * @param salt another salt gives other texts of the same lengths
 */
export function blockText(lo: number, hi: number, salt: number, tokens: number): string {
  let a = lo ^ Math.imul(salt + 1, 0x9e3779b1)
  let b = hi ^ 0x6c8e9cf5
  let text = ''
  for (let i = 0; i < tokens; i++) {
    text += words[Math.imul(a, 0x9e3779bb) >>> 25]!
    // xoroshiro64* (Blackman and Vigna 2018): its whole state is the hash.
    b ^= a
    a = ((a << 26) | (a >>> 6)) ^ b ^ (b << 9)
    b = (b << 13) | (b >>> 19)
  }
  return text
}

export interface ChainTokens {
  readonly chain: BlockChain
  readonly blockTokens: number
  readonly salt: number
}

/** The text of tokens `from` to `to` of a chain; what lies beyond its last block is made up. */
export function chainText(
  { chain, blockTokens, salt }: ChainTokens,
  from: number,
  to: number,
): string {
  const firstBlock = Math.floor(from / blockTokens)
  const blocks: string[] = []
  for (let block = firstBlock; block * blockTokens < to; block++) {
    const known = Math.min(block, chain.length - 1)
    const beyond = block - known
    const lo = known < 0 ? 0 : chain.lo[known]!
    const hi = known < 0 ? 0 : chain.hi[known]!
    blocks.push(blockText(lo + beyond, hi, salt, blockTokens))
  }
  const start = firstBlock * blockTokens
  return blocks.join('').slice((from - start) * tokenBytes, (to - start) * tokenBytes)
}

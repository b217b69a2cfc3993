/** What stands behind the byte 0xff in a prompt's canonical stream. Never change one's meaning. */
const codeOf = (letter: string): number => letter.charCodeAt(0)

export const promptTag = {
  // The seed.
  model: codeOf('m'),
  adapter: codeOf('a'),
  salt: codeOf('s'),
  namespace: codeOf('n'),
  // Before the first message.
  template: codeOf('E'),
  storedState: codeOf('V'),
  tool: codeOf('F'),
  // Messages.
  message: codeOf('M'),
  name: codeOf('N'),
  text: codeOf('T'),
  toolCall: codeOf('C'),
  toolArguments: codeOf('A'),
  toolResult: codeOf('R'),
  media: codeOf('I'),
  otherPart: codeOf('U'),
  // Prompts that are not conversations.
  plainText: codeOf('P'),
  tokenIds: codeOf('D'),
  // JSON values.
  string: codeOf('"'),
  number: codeOf('#'),
  true: codeOf('t'),
  false: codeOf('f'),
  null: codeOf('0'),
  arrayOpen: codeOf('['),
  arrayClose: codeOf(']'),
  objectOpen: codeOf('{'),
  objectClose: codeOf('}'),
  key: codeOf('k'),
} as const

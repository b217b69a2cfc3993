/** Every bound on what the protocol layer keeps of one request or answer. */
export const protocolLimits = {
  /** Nesting of a JSON value that is followed into; what lies deeper does not reach the hash. */
  jsonDepthMax: 256,
  /** Bytes of one server-sent event (a whole response may come in one). */
  eventBytesMax: 4 * 1024 * 1024,
  /** Bytes of a body that is read as one JSON text. */
  jsonBodyBytesMax: 4 * 1024 * 1024,
  /** Bytes at the end of a large JSON body in which usage is looked for. */
  jsonTailBytes: 4 * 1024,
  /** Bytes of an answer's text and tool arguments kept to index it. */
  answerBytesMax: 1024 * 1024,
  /** Parts (texts and tool calls) of one answer. */
  answerPartsMax: 256,
  /** Characters of an engine's error message that are kept. */
  errorMessageCharsMax: 1_000,
} as const

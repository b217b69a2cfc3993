/** Every bound of the server that its options do not name. */
export const serverLimits = {
  /** Connections that wait to be accepted. */
  backlog: 4_096,
  /** How often deadlines are looked at: slow clients are cut this much late at most. */
  sweepMs: 500,
  /** Bytes of further requests taken while one is answered. */
  aheadBytesMax: 65_536,
  /** An answer up to this size is copied into one write; a longer one is written in pieces. */
  oneWriteBytesMax: 16_384,
  /** After an answer that came before the end of its request: the rest is read and dropped. */
  lingerMs: 2_000,
  /** Silent connections are checked by TCP after this. */
  tcpKeepAliveMs: 60_000,
} as const

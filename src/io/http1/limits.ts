/** Every bound of the upstream client that its options do not name. */
export const http1Limits = {
  /** Bytes of one head: llama.cpp and vLLM stay below 2 KB, proxies between add some. */
  headBytesMax: 65_536,
  /** Header lines, or trailer lines, of one answer. */
  headerLinesMax: 256,
  /** Interim (1xx) answers before the final one. */
  interimMax: 32,
  /** Bytes of one chunk-size line with its extensions. */
  chunkLineBytesMax: 1_024,
  /** Open sockets to one origin: fewer than there are local ports. */
  connectionsMax: 16_384,
  connectTimeoutMs: 5_000,
  /**
   * Silence after which TCP asks whether the host is still there: a long prefill is a silent
   * socket, and a host that lost its power says nothing either. Node asks ten times, each second.
   */
  tcpKeepAliveMs: 15_000,
  /** uvicorn, and so vLLM and SGLang, closes idle connections after exactly 5 s. */
  idleSocketMs: 4_000,
  /** Longest rest of a socket that a `Keep-Alive: timeout=` hint can buy. */
  idleHintMaxMs: 60_000,
  /** Taken off the hint, for the way there and for timers. */
  idleHintMarginMs: 1_000,
  /**
   * A reused socket that dies within this time of the request died of the server's idle close;
   * later it may well have died of the request, which then must not be sent again unasked.
   */
  idleCloseRaceMs: 1_000,
  /** Longest rest of a socket that may carry what must not run twice: servers wait for longer. */
  onceRestMsMax: 1_000,
  /** Shortest time between two looks at the deadlines. */
  sweepMinMs: 20,
  /** A request up to this size is copied into one write; a longer one is written in pieces. */
  oneWriteBytesMax: 16_384,
  /** Characters of a failure's `detail`. */
  detailCharsMax: 200,
} as const

/**
 * Every bound on a queue, table or retry of the core. One place, so that the memory of a router can
 * be reckoned from this page.
 */
export const limits = {
  /** Endpoints in one router. */
  endpointsMax: 1024,
  /** Candidates written into one explanation; the best ones are kept. */
  explainedCandidatesMax: 64,
  /** Live sessions followed; the one idle longest is forgotten first. */
  sessionsMax: 100_000,
  /** Tenants, models and other names that get an entry of their own; the rest share one. */
  namesMax: 1_000,
  /** Blocks an endpoint is believed to hold where its capacity is unknown (of `blockBytes`). */
  blocksPerEndpointDefault: 16_384,
  /** Blocks an endpoint may be believed to hold, whatever it reports. */
  blocksPerEndpointMax: 4_194_304,
  /** Blocks of one prompt that are looked at; longer prompts match by their head. */
  blocksPerPromptMax: 65_536,
  /** Attempts at one request: the first and at most two more elsewhere. */
  attemptsMax: 3,
  /** Requests held at the router; more are refused at once. */
  heldRequestsMax: 10_000,
  /** Held requests looked at, from the front, whenever something may have become free. */
  heldLookAhead: 16,
  /** How long the work of an abandoned request stays on the ledger without a sign of the engine. */
  lingerMsMax: 30_000,
} as const

import { z } from 'zod'

const count = z.number().int().nonnegative()
const ms = z.number().nonnegative()

/**
 * What is wrong with a replica. All fields are optional, and the empty object is a sound replica.
 * Times are real milliseconds, whatever the time scale; bytes and events are those of one answer's
 * body to a generation or embedding request.
 */
export const faultsSchema = z.strictObject({
  /** Writes no longer than this, so that lines and characters are split. */
  splitBytes: z.number().int().positive().optional(),
  /** Holds events back until so many can be written at once. */
  eventsPerWrite: z.number().int().positive().optional(),
  /** Lines of a stream end in CRLF. */
  crlf: z.boolean().optional(),
  /** The answer is compressed; a stream is flushed after each write. */
  gzip: z.boolean().optional(),
  /** Waits before the headers. */
  headersDelayMs: ms.optional(),
  /** Waits behind so many events; null waits for ever. */
  stall: z.strictObject({ afterEvents: count, ms: ms.nullable() }).optional(),
  /**
   * Breaks the answer off behind so many events, or at a byte: with a reset, with a close in the
   * middle of the body, with an end as if the body were whole (but no finish reason and no
   * `[DONE]`), or, behind an event, with the error by which the engine reports its own death.
   */
  breakOff: z
    .strictObject({
      afterEvents: count.optional(),
      atByte: count.optional(),
      how: z.enum(['reset', 'close', 'end', 'error']),
    })
    .optional(),
  /** `/health` answers late, or with this status; null never answers. */
  health: z
    .strictObject({ status: z.number().int().nullable().optional(), delayMs: ms.optional() })
    .optional(),
  metrics: z
    .strictObject({
      status: z.number().int().optional(),
      delayMs: ms.optional(),
      /** Families that are left out. */
      without: z.array(z.string()).optional(),
      /** Families that appear under another name. */
      rename: z.record(z.string(), z.string()).optional(),
      /** Text to put in the place of a family's values. */
      values: z.record(z.string(), z.string()).optional(),
      /** The whole page. */
      page: z.string().optional(),
    })
    .optional(),
  /** Paths that are answered with 404. */
  missingPaths: z.array(z.string()).optional(),
  /** Generation requests get this at once; `requests` limits it to the next so many. */
  error: z
    .strictObject({
      status: z.number().int(),
      body: z.string().optional(),
      contentType: z.string().optional(),
      retryAfterS: z.number().optional(),
      requests: count.optional(),
    })
    .optional(),
  /** Usage does not say what was cached. */
  withoutCachedTokens: z.boolean().optional(),
  /** Goes on computing for clients that have gone, as llama.cpp does when it is busy. */
  ignoreAborts: z.boolean().optional(),
  /** Health is green, requests hang, and the sleep gauge says so. */
  asleep: z.boolean().optional(),
  /** Health is green and each new request gets a 500, as vLLM does while it shuts down. */
  rejectNew: z.boolean().optional(),
  /** Steps take so many times as long. */
  slowdown: z.number().positive().optional(),
})

/** See `faultsSchema`. */
export type Faults = z.infer<typeof faultsSchema>

/** A restart of the process on the same port. */
const restartSchema = z.strictObject({
  /** The port is closed for so long, as while a process loads its model. Real ms. */
  downMs: ms.optional(),
  /** Then it answers 503 for so long. */
  unreadyMs: ms.optional(),
})

export type RestartOptions = z.infer<typeof restartSchema>

/** One step of a script: other faults, a restart, or both. */
export const faultStepSchema = z.strictObject({
  /** Real ms after the start of the emulator. */
  atMs: ms,
  /** Counted from 0; left out, the step is taken by all replicas. */
  replica: count.optional(),
  /** Replaces the faults that are in force. */
  faults: faultsSchema.optional(),
  restart: restartSchema.optional(),
})

export type FaultStep = z.infer<typeof faultStepSchema>

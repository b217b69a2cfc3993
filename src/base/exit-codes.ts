/**
 * What the exit status of every command means. The numbers above 1 are those of sysexits.h, so that
 * a script and a supervisor can tell a wrong command line from a wrong file from a missing service.
 */
export const exitCodes = {
  /** Done, and nothing was wrong. */
  ok: 0,
  /** The command worked, and what it looked at is not well: an endpoint cannot be used, say. */
  failed: 1,
  /** The command line is wrong (EX_USAGE). */
  usage: 64,
  /** What was asked for does not exist: a request id, a file (EX_NOINPUT). */
  notFound: 66,
  /** A service that the command needs cannot be reached or used (EX_UNAVAILABLE). */
  unavailable: 69,
  /** A fault of the program itself (EX_SOFTWARE). */
  internal: 70,
  /** The configuration file or the environment is wrong (EX_CONFIG). */
  config: 78,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/**
 * Thrown when the program's own reasoning is wrong, never for bad input. The core's state is soft:
 * a driver that catches one rebuilds the core from its open requests instead of crashing.
 */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** Checks an invariant; stays on in production, because a wrong ledger routes wrongly for days. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

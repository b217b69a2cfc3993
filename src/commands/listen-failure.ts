import { exitCodes } from '../base/exit-codes.ts'
import { CommandFailure } from './command-failure.ts'

/** Turns "the port is taken" and its like into a failure of the command; throws the rest on. */
export function rethrowListenFailure(error: NodeJS.ErrnoException): never {
  if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') throw error
  throw new CommandFailure(exitCodes.unavailable, `cannot listen: ${error.message}`)
}

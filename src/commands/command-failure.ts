import type { ExitCode } from '../base/exit-codes.ts'

/** Ends a command with a message on stderr and an exit code, without a stack trace. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Runs the command line and turns what comes of it into an exit status. */
import { CommanderError } from 'commander'
import { exitCodes } from './base/exit-codes.ts'
import { CommandFailure } from './commands/command-failure.ts'
import { createProgram } from './commands/program.ts'

// A reader that has seen enough, such as `head`, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? exitCodes.ok : exitCodes.internal)
})

try {
  await createProgram().parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed its message.
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  } else if (error instanceof CommandFailure) {
    for (const line of error.message.split('\n')) process.stderr.write(`warmpath: ${line}\n`)
    process.exitCode = error.exitCode
  } else {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    process.stderr.write(`warmpath: a fault of the program, please report it: ${text}\n`)
    process.exitCode = exitCodes.internal
  }
}

/** The command line as a whole. Bodies of commands are loaded when they run: `--help` is quick. */
import { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import * as bench from './bench.ts'
import * as calibrate from './calibrate.ts'
import * as check from './check.ts'
import * as demo from './demo.ts'
import * as emulate from './emulate.ts'
import * as explain from './explain.ts'
import * as lab from './lab.ts'
import * as report from './report.ts'
import * as serve from './serve.ts'
import * as simulate from './simulate.ts'

const help = `
Start here:
  warmpath demo                                     # a fleet on this machine, no GPU needed
  warmpath check http://gpu1:8000 http://gpu2:8000  # what your engines say of themselves
  warmpath serve http://gpu1:8000 http://gpu2:8000  # route to them

Exit status: 0 done, 1 what was looked at is not well, 64 wrong command line, 66 not found,
69 a service cannot be reached, 70 a fault of the program, 78 wrong configuration.
`

/** A new command line; `parseAsync` rejects instead of ending the process. */
export function createProgram(): Command {
  const program = new Command('warmpath')
    .description('An inference router: sends each request to the replica that finishes it soonest.')
    .version(packageJson.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .helpCommand(false)
    .configureHelp({ helpWidth: 100 })
    .addHelpText('after', help)
    .exitOverride()
  const commands = [demo, serve, emulate, check, explain, simulate, bench, report, lab, calibrate]
  for (const command of commands) command.register(program)
  return program
}

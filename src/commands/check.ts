import type { Command } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import { addConfigFile, configOf, requireEndpoints } from './config-flags.ts'

const help = `
Examples:
  warmpath check http://gpu1:8000 http://gpu2:8000
  warmpath check --config warmpath.yaml --json

A dash is what an engine does not report. Exit status 1: an endpoint cannot be used.
`

/** `warmpath check`: is the configuration valid, and what do the engines say of themselves? */
export function register(program: Command): void {
  const command = program
    .command('check')
    .summary('check a configuration and ask every endpoint what it is')
    .description('Checks the configuration, then asks every endpoint what it is.')
    .argument('[url...]', 'engines, such as http://gpu1:8000')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', help)
    .action(async (urls: string[]) => check(command, urls))
  addConfigFile(command)
}

async function check(command: Command, urls: readonly string[]): Promise<void> {
  const config = configOf(command, urls)
  requireEndpoints(config, 'check')
  const { renderCheck, isUsable } = await import('./render-check.ts')
  const { probeEndpoint } = await import('../sources/probe-endpoint.ts')
  const checked = await Promise.all(
    config.endpoints.map(async (spec) => ({ url: spec.url, ...(await probeEndpoint(spec)) })),
  )
  const text = command.opts().json ? JSON.stringify(checked, null, 2) : renderCheck(checked)
  process.stdout.write(`${text}\n`)
  process.exitCode = checked.every(isUsable) ? exitCodes.ok : exitCodes.failed
}

import { once } from 'node:events'
import type { Command } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import { addConfigFlags, configOf, requireEndpoints } from './config-flags.ts'
import { rethrowListenFailure } from './listen-failure.ts'
import { reloadWhenChanged } from './reload-when-changed.ts'
import { stopSignal } from './stop-signal.ts'

const help = `
Examples:
  warmpath serve http://gpu1:8000 http://gpu2:8000
  warmpath serve --config warmpath.yaml --log-level debug
  warmpath check http://gpu1:8000        # first, see what the engines say of themselves

Then:
  curl http://127.0.0.1:8080/v1/models   # what clients can ask for
  curl http://127.0.0.1:8080/status      # which endpoints may be chosen, and why not
  warmpath explain REQUEST_ID            # why a request went where it went

Every option can also stand in the file (without the dashes, as connectTimeout) or in the
environment (as WARMPATH_CONNECT_TIMEOUT). A flag wins over the environment, the environment
over the file. SIGTERM drains; a second one ends at once. The file is read again when it changes,
and on SIGHUP.
`

/** `warmpath serve`: the gateway, until a signal ends it. */
export function register(program: Command): void {
  const command = program
    .command('serve')
    .summary('route OpenAI and Anthropic traffic to a fleet of engines')
    .description('Routes OpenAI and Anthropic traffic to a fleet of engines.')
    .argument('[url...]', 'engines, such as http://gpu1:8000')
    .addHelpText('after', help)
    .action(async (urls: string[]) => serve(command, urls))
  addConfigFlags(command)
}

async function serve(command: Command, urls: readonly string[]): Promise<void> {
  const config = configOf(command, urls)
  requireEndpoints(config, 'serve')
  const { optimizeEarly } = await import('../io/optimize-early.ts')
  optimizeEarly()
  const { pinoLogger } = await import('../observe/logger.ts')
  const { startGateway } = await import('../drivers/gateway/start-gateway.ts')
  const terminal = process.stderr.isTTY === true
  const format = config.logFormat === 'auto' ? (terminal ? 'text' : 'json') : config.logFormat
  const log = pinoLogger({ level: config.logLevel, format })
  const gateway = await startGateway(config, log).catch(rethrowListenFailure)
  if (terminal) {
    process.stderr.write(
      `try: curl ${gateway.address}/v1/models\n     curl ${gateway.address}/status\n`,
    )
  }
  const endWatch = reloadWhenChanged(command, urls, gateway)
  await once(stopSignal(), 'abort')
  endWatch()
  await gateway.drain()
  log.flush()
  process.exitCode = exitCodes.ok
}

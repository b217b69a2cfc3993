import type { Command } from 'commander'
import { Option } from 'commander'
import { rethrowListenFailure } from './listen-failure.ts'
import { numberArgument } from './number-argument.ts'
import { stopSignal } from './stop-signal.ts'

const help = `
Examples:
  warmpath emulate --replicas 2 --port 8001          # http://127.0.0.1:8001 and :8002
  warmpath emulate --profile qwen3-32b-2xh100 --time-scale 10
  warmpath emulate --script faults.json              # what breaks, and when

Then:
  warmpath serve http://127.0.0.1:8001 http://127.0.0.1:8002
  curl http://127.0.0.1:8001/v1/models

The engines compute when each token would come and answer with made-up text. A script is a JSON
list of steps such as
  { "atMs": 5000, "replica": 0, "faults": { "slowdown": 3, "health": { "status": 503 } } }
and docs/guides/emulator.md lists the faults.
`

interface EmulateOptions {
  readonly profile: string
  readonly replicas: number
  readonly port: number
  readonly host: string
  readonly timeScale: number
  readonly engine: 'vllm' | 'sglang'
  readonly model?: string
  readonly seed: number
  readonly script?: string
}

/** `warmpath emulate`: engines that answer like vLLM or SGLang, without a GPU. */
export function register(program: Command): void {
  program
    .command('emulate')
    .summary('run engines that answer like vLLM, without a GPU')
    .description('Runs engines that answer like vLLM or SGLang would, without a GPU.')
    .option('--profile <name|file>', 'model and devices to imitate', 'llama-3.1-8b-h100')
    .option('--replicas <number>', 'how many engines', numberArgument(1, 256), 4)
    .option(
      '--port <number>',
      'port of the first; 0 takes free ones',
      numberArgument(0, 65_535),
      8001,
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--time-scale <number>',
      'how many times faster than real time',
      numberArgument(0.01, 1000, 'fraction'),
      1,
    )
    .addOption(
      new Option('--engine <word>', 'whose manners').choices(['vllm', 'sglang']).default('vllm'),
    )
    .option('--model <name>', "name of the model, instead of the profile's")
    .option('--seed <number>', 'decides the answers', numberArgument(0, 4_294_967_295), 1)
    .option('--script <file>', 'faults to inject, by time (JSON)')
    .addHelpText('after', help)
    .action(emulate)
}

async function emulate(options: EmulateOptions): Promise<void> {
  const { profileArgument } = await import('./profile-argument.ts')
  const profile = profileArgument(options.profile)
  const { runEmulator } = await import('../lab/emulator/run-emulator.ts')
  const { readFaultScript } = await import('./read-fault-script.ts')
  const { model, engine, script, ...rest } = options
  await runEmulator({
    ...rest,
    profile,
    personality: engine,
    ...(model === undefined ? {} : { models: [model] }),
    ...(script === undefined ? {} : { script: readFaultScript(script) }),
    signal: stopSignal(),
    print: (line) => process.stdout.write(`${line}\n`),
  }).catch(rethrowListenFailure)
}

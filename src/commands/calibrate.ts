import type { Command } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import type { Scheduler } from '../base/scheduler.ts'
import type { Calibration, CalibrationOptions, Calibrator } from '../lab/calibrate/calibrator.ts'
import { CommandFailure } from './command-failure.ts'
import { numberArgument } from './number-argument.ts'
import { stopSignal } from './stop-signal.ts'

const help = `
Examples:
  warmpath calibrate http://gpu1:8000                 # five minutes at most, writes MODEL.yaml
  warmpath calibrate http://gpu1:8000 --dry-run       # what it would send
  warmpath calibrate http://gpu1:8000 -o gpu1.yaml --minutes 2

Then:
  warmpath emulate --profile gpu1.yaml
  warmpath simulate --fleet 4xgpu1.yaml

It sends prompts of made-up text, new and repeated, one at a time and then several at once, and fits
the step-time model to the times of first and later tokens. It uses at most half of the KV memory.
docs/guides/calibrate.md explains the figures.
`

interface CalibrateOptions {
  readonly output?: string
  readonly overwrite?: true
  readonly model?: string
  readonly apiKeyEnv?: string
  readonly minutes: number
  readonly rounds: number
  readonly atOnce: number
  readonly longestPrompt: number
  readonly kvTokens?: number
  readonly batchTokens?: number
  readonly runningMax?: number
  readonly dryRun?: true
  readonly json?: true
}

/** `warmpath calibrate`: how fast is this engine, and what can it hold? */
export function register(program: Command): void {
  const count = numberArgument(1, 1e9)
  program
    .command('calibrate')
    .summary('measure an engine, for the emulator and the simulator')
    .description('Measures an engine and writes a profile for the emulator and the simulator.')
    .argument('<url>', 'an engine, such as http://gpu1:8000')
    .option('-o, --output <file>', 'where to write the profile (default: MODEL.yaml)')
    .option('--overwrite', 'write it even where that file exists')
    .option('--model <name>', 'which model, where the engine serves several')
    .option('--api-key-env <name>', 'environment variable that holds the key for the engine')
    .option('--minutes <number>', 'how long at most', numberArgument(0.1, 240, 'fraction'), 5)
    .option('--rounds <number>', 'how often to repeat, if there is time', numberArgument(1, 100), 5)
    .option('--at-once <number>', 'most requests at once', numberArgument(1, 256), 16)
    .option('--longest-prompt <tokens>', 'longest prompt', numberArgument(256, 1e6), 32_768)
    .option('--kv-tokens <number>', 'KV memory, where the engine does not tell it', count)
    .option('--batch-tokens <number>', 'tokens of one step, where it does not', count)
    .option('--running-max <number>', 'sequences at once, where it does not', count)
    .option('--dry-run', 'only say what would be sent')
    .option('--json', 'print JSON instead of tables')
    .addHelpText('after', help)
    .action(calibrate)
}

async function calibrate(url: string, options: CalibrateOptions): Promise<void> {
  const { realTimeScheduler, unixTimeMs } = await import('../io/real-time.ts')
  const { renderPlan } = await import('./render-calibration.ts')
  const { Calibrator } = await import('../lab/calibrate/calibrator.ts')
  const { CalibrationProblem } = await import('../lab/calibrate/calibration-problem.ts')
  const { CallFailed } = await import('../lab/calibrate/engine-under-test.ts')
  const scheduler = realTimeScheduler()
  const signal = stopSignal()
  const asked = { ...calibrationOptions(url, options), seed: unixTimeMs(), scheduler, signal }
  try {
    const calibrator = await Calibrator.ask({ ...asked, url: await originOf(url) })
    try {
      const output = options.output ?? `${calibrator.facts.model.replace(/^.*\//, '')}.yaml`
      if (!options.dryRun) await checkOutput(output, options.overwrite === true)
      process.stderr.write(`${renderPlan(calibrator, options)}\n`)
      if (options.dryRun) return
      const calibration = await measure(calibrator, options, scheduler)
      await write(calibration, url, output, options)
    } finally {
      calibrator.close()
    }
  } catch (error) {
    if (signal.aborted) {
      throw new CommandFailure(exitCodes.failed, 'stopped; nothing was written')
    }
    if (error instanceof CalibrationProblem) {
      throw new CommandFailure(exitCodes[error.kind], `${url}: ${error.message}`)
    }
    if (error instanceof CallFailed) {
      const message = `${url}: ${error.message}; nothing was written`
      throw new CommandFailure(exitCodes.unavailable, message)
    }
    throw error
  }
}

async function originOf(url: string): Promise<string> {
  const { endpointListSchema } = await import('../config/endpoint-spec.ts')
  const parsed = endpointListSchema.safeParse([url])
  if (parsed.success) return parsed.data[0].url
  throw new CommandFailure(exitCodes.usage, `${url}: ${parsed.error.issues[0].message}`)
}

function calibrationOptions(
  url: string,
  options: CalibrateOptions,
): Omit<CalibrationOptions, 'seed' | 'scheduler' | 'signal'> {
  const { apiKeyEnv, kvTokens, batchTokens, runningMax } = options
  const apiKey = apiKeyEnv === undefined ? null : process.env[apiKeyEnv]
  if (apiKey === undefined) {
    throw new CommandFailure(exitCodes.usage, `--api-key-env: ${apiKeyEnv} is not set`)
  }
  return {
    url,
    model: options.model ?? null,
    apiKey,
    minutes: options.minutes,
    roundsMax: options.rounds,
    atOnceMax: options.atOnce,
    promptTokensMax: options.longestPrompt,
    given: {
      ...(kvTokens === undefined ? {} : { kvTokens }),
      ...(batchTokens === undefined ? {} : { batchTokensMax: batchTokens }),
      ...(runningMax === undefined ? {} : { runningMax }),
    },
  }
}

/** Before minutes are spent on what cannot be kept. */
async function checkOutput(output: string, overwrite: boolean): Promise<void> {
  const { readTextFile } = await import('../io/read-text-file.ts')
  const there = readTextFile(output)
  if (overwrite || (!there.ok && there.reason === 'no such file')) return
  const message = `${output}: it exists already; name another with --output, or give --overwrite`
  throw new CommandFailure(exitCodes.usage, message)
}

async function measure(
  calibrator: Calibrator,
  options: CalibrateOptions,
  scheduler: Scheduler,
): Promise<Calibration> {
  const { ProgressLine } = await import('./progress-line.ts')
  const progress = new ProgressLine('experiments', scheduler)
  const all = calibrator.experiments.length * options.rounds
  let begun = 0
  let warned = false
  let probing = false
  const say = (line: string): void => {
    progress.end()
    process.stderr.write(`${line}\n`)
  }
  try {
    return await calibrator.measure({
      onExperiment: () => {
        progress.show(begun, all)
        begun += 1
      },
      onOthers: (requests) => {
        if (warned) return
        warned = true
        say(`others have ${requests} requests in the engine now`)
      },
      onProbing: () => {
        if (!probing) say('filling the KV memory to find its size …')
        probing = true
      },
    })
  } finally {
    progress.end()
  }
}

async function write(
  calibration: Calibration,
  url: string,
  output: string,
  options: CalibrateOptions,
): Promise<void> {
  const { wallTime } = await import('../io/wall-time.ts')
  const { writeTextFile } = await import('../io/write-text-file.ts')
  const { profileFileText, profileOf } = await import('../lab/calibrate/calibrated-profile.ts')
  const { renderCalibration } = await import('./render-calibration.ts')
  const occasion = { url, at: wallTime() }
  const problem = writeTextFile(output, profileFileText(calibration, occasion))
  if (options.json) {
    const { fit, run, limits: _limits, ...rest } = calibration
    const { observations, ...counts } = run
    const report = {
      schema: 'warmpath-calibration/1',
      ...occasion,
      profile: profileOf(calibration, occasion),
      fit,
      ...rest,
      ...counts,
      observations,
    }
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  } else {
    process.stdout.write(`${renderCalibration(calibration)}\n`)
  }
  if (problem !== null) throw new CommandFailure(exitCodes.notFound, `${output}: ${problem}`)
  process.stderr.write(`wrote ${output}\n`)
}

import { type Command, Option } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import type { Scheduler } from '../base/scheduler.ts'
import type { BenchFigures } from '../lab/bench/bench-figures.ts'
import type { BenchSlo } from '../lab/bench/bench-slo.ts'
import type { BenchApi, BenchTarget } from '../lab/bench/bench-target.ts'
import type { StageProgress } from '../lab/bench/run-bench.ts'
import { type LoadOptions, listArgument, loadsOf, sweepArgument } from './bench-loads.ts'
import { type BenchTraffic, type TrafficOptions, trafficOf } from './bench-traffic.ts'
import { CommandFailure } from './command-failure.ts'
import { durationArgument } from './duration-argument.ts'
import { numberArgument } from './number-argument.ts'
import { type ReportFlags, reportFlags } from './print-report.ts'
import { sloArgument } from './slo-argument.ts'
import { stopSignal } from './stop-signal.ts'

const help = `
Examples:
  warmpath bench http://gpu1:8000                            # eight requests at once, for 30 s
  warmpath bench http://gpu1:8000 --rate 4                   # Poisson arrivals, 4 a second
  warmpath bench http://gpu1:8000 --sweep 1:32 --html sweep.html
  warmpath bench http://lb:80 http://router:8080 --agents 16 # the same agents on both, by turns
  warmpath bench http://gpu1:8000 --prefixes 20 --prefix-tokens 6000 --rate 4
  WARMPATH_API_KEY=… warmpath bench https://llm.example.com/v1 --rate 1 --model some-model

With --rate and --sweep requests leave at times of their own, however slow the server is, and
every time counts from when the request was to leave. docs/guides/bench.md explains the figures.
The key comes from WARMPATH_API_KEY or OPENAI_API_KEY, never from the command line.
`

interface BenchOptions extends LoadOptions, TrafficOptions, ReportFlags {
  readonly duration: number
  readonly warmup?: number
  readonly drain: number
  readonly timeout: number
  readonly rounds?: number
  readonly slo: BenchSlo
  readonly model?: string
  readonly api: BenchApi
  readonly stream: boolean
  readonly ignoreEos?: boolean
  readonly header: readonly string[]
  readonly maxInFlight: number
  readonly seed: number
}

const day = 86_400_000

/** `warmpath bench`: load on a live endpoint, measured from when it was to be sent. */
export function register(program: Command): void {
  const command = program
    .command('bench')
    .summary('put load on an endpoint and measure it')
    .description(
      'Puts load on one OpenAI-compatible endpoint, or on two by turns, and measures it.',
    )
    .argument('<urls...>', 'one URL, or two to compare')
    .option('--rate <list>', 'requests per second, one stage each', listArgument(1e5, 'fraction'))
    .option('--sweep <from:to[:steps]>', 'rates that rise, and the knee between', sweepArgument)
    .option('--concurrency <list>', 'requests at once, one stage each', listArgument(1e4, 'whole'))
    .option('--agents <number>', 'agent sessions at once', numberArgument(1, 10_000))
    .addOption(
      new Option('--arrivals <word>', 'how requests of a rate arrive')
        .choices(['poisson', 'constant'])
        .default('poisson'),
    )
    .option('--duration <time>', 'of each stage, measured', durationArgument(100, day), 30_000)
    .option(
      '--warmup <time>',
      'before each, not measured (5s; agents: 0)',
      durationArgument(0, day),
    )
    .option('--drain <time>', 'after each, for what is open', durationArgument(0, day), 30_000)
    .option('--timeout <time>', 'longest answer', durationArgument(100, day), 300_000)
    .option('--rounds <number>', 'repetitions (1; with two URLs 3)', numberArgument(1, 100))
    .option('--slo <list>', 'objectives of goodput', sloArgument, sloArgument('ttft=2s,tpot=60ms'))
  trafficFlags(command)
  targetFlags(command)
  reportFlags(command).addHelpText('after', help).action(bench)
}

function trafficFlags(command: Command): void {
  const tokens = numberArgument(0, 2_000_000)
  command
    .option('--prompt-tokens <number>', "of each request's own", numberArgument(1, 2e6), 512)
    .option('--output-tokens <number>', 'asked for', numberArgument(1, 1e6), 128)
    .option('--prefixes <number>', 'system prompts that requests share', tokens, 0)
    .option('--prefix-tokens <number>', 'of each of those', tokens, 2_000)
    .option('--workload <name,options>', "the simulator's sessions (simulate --list)")
    .option('--tasks <number>', 'sessions in all (twice the agents)', numberArgument(1, 1e6))
    .option('--seed <number>', 'decides texts and arrivals', numberArgument(0, 1e9), 1)
}

function targetFlags(command: Command): void {
  command
    .option('--model <name>', 'asked for (the first that the first URL lists)')
    .addOption(
      new Option('--api <word>', 'which of them').choices(['chat', 'completions']).default('chat'),
    )
    .option('--no-stream', 'ask for answers in one piece')
    .option('--ignore-eos', 'ask vLLM or SGLang for exactly the output tokens')
    .option('--header <name:value>', 'sent along, may be repeated', headerArgument, [])
    .option('--max-in-flight <number>', 'open at once', numberArgument(1, 60_000), 10_000)
}

function headerArgument(text: string, before: readonly string[]): string[] {
  const colon = text.indexOf(':')
  const name = text.slice(0, Math.max(0, colon)).trim()
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    throw new CommandFailure(exitCodes.usage, `--header: '${text}' is not 'name: value'`)
  }
  if (/^(authorization|api-key|x-api-key)$/i.test(name)) {
    throw new CommandFailure(
      exitCodes.usage,
      `--header: a key on the command line can be read by others; put it in WARMPATH_API_KEY`,
    )
  }
  return [...before, name, text.slice(colon + 1).trim()]
}

async function bench(urls: readonly string[], options: BenchOptions): Promise<void> {
  const { benchFigures } = await import('../lab/bench/bench-figures.ts')
  const { benchReport } = await import('../lab/bench/bench-report.ts')
  const { BenchRun } = await import('../lab/bench/run-bench.ts')
  const { realTimeScheduler } = await import('../io/real-time.ts')
  const { printReport, provenance } = await import('./print-report.ts')
  const loads = loadsOf(options)
  checkUrls(urls)
  const scheduler = realTimeScheduler()
  const { model, maxTokens } = await modelOf(urls, options, scheduler)
  const traffic = await trafficOf(options, maxTokens)
  const targets = await targetsOf(urls, model, options, scheduler)
  const rounds = options.rounds ?? (urls.length > 1 && options.sweep === undefined ? 3 : 1)
  const plan = {
    loads,
    sweep: options.sweep !== undefined,
    rounds,
    stage: {
      warmUpMs: options.warmup ?? (traffic.untilDone ? 0 : 5_000),
      durationMs: traffic.untilDone ? null : options.duration,
      drainMs: options.drain,
      timeoutMs: options.timeout,
    },
    seed: options.seed,
    slo: options.slo,
    sourceOf: traffic.sourceOf,
  }
  const stop = stopSignal()
  announce(urls, model, traffic, plan)
  const progress = await progressOf(scheduler)
  const run = new BenchRun(targets, plan, scheduler, stop, progress.show)
  const result = await run.run().finally(() => {
    progress.end()
    for (const target of targets) target.close()
  })
  const { api, stream, slo } = options
  const setup = { urls, model, api, stream, slo, traffic: traffic.words, rounds, sweep: plan.sweep }
  const figures = benchFigures(setup, result)
  const report = benchReport(figures, await provenance({ seeds: [options.seed] }))
  await printReport(report, figures, options)
  process.exitCode = anyDone(figures) ? exitCodes.ok : exitCodes.failed
}

function anyDone({ stages }: BenchFigures): boolean {
  return stages.some(({ requests }) => requests.done > 0)
}

function checkUrls(urls: readonly string[]): void {
  if (urls.length > 2) {
    throw new CommandFailure(
      exitCodes.usage,
      `${urls.length} URLs: it takes one, or two to compare`,
    )
  }
  for (const url of urls) {
    const parsed = URL.canParse(url) ? new URL(url) : null
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
      throw new CommandFailure(
        exitCodes.usage,
        `${url} is not an http or https URL such as http://gpu1:8000`,
      )
    }
    if (parsed.username !== '' || parsed.password !== '') {
      throw new CommandFailure(exitCodes.usage, 'a URL holds no user or password')
    }
  }
  if (urls.length === 2 && urls[0] === urls[1]) {
    throw new CommandFailure(exitCodes.usage, `${urls[0]} twice: two URLs are compared`)
  }
}

function apiKey(): string | null {
  return process.env.WARMPATH_API_KEY || process.env.OPENAI_API_KEY || null
}

async function modelOf(
  urls: readonly string[],
  { model, header }: BenchOptions,
  scheduler: Scheduler,
): Promise<{ readonly model: string; readonly maxTokens: number | null }> {
  const { listModels } = await import('../lab/bench/list-models.ts')
  const { FetchFailed } = await import('../io/http1/fetch-text.ts')
  const options = { apiKey: apiKey(), headers: header }
  let found: { readonly model: string; readonly maxTokens: number | null } | null = null
  for (const url of urls) {
    const { status, models } = await listModels(url, options, scheduler).catch((error: unknown) => {
      if (!(error instanceof FetchFailed)) throw error
      throw new CommandFailure(exitCodes.unavailable, `${url} does not answer: ${error.message}`)
    })
    if (status === 401 || status === 403) {
      throw new CommandFailure(
        exitCodes.unavailable,
        `${url} answers ${status}: put its key in WARMPATH_API_KEY`,
      )
    }
    if (found !== null) continue
    const chosen = model === undefined ? models?.[0] : models?.find(({ id }) => id === model)
    if (chosen !== undefined) found = { model: chosen.id, maxTokens: chosen.maxModelLen }
  }
  if (found !== null) return found
  if (model !== undefined) return { model, maxTokens: null }
  throw new CommandFailure(
    exitCodes.unavailable,
    `${urls[0]} lists no models at /v1/models: name one with --model`,
  )
}

async function targetsOf(
  urls: readonly string[],
  model: string,
  { api, stream, header, ignoreEos = false, maxInFlight }: BenchOptions,
  scheduler: Scheduler,
): Promise<BenchTarget[]> {
  const { BenchTarget } = await import('../lab/bench/bench-target.ts')
  const inFlightMax = maxInFlight
  const key = apiKey()
  return urls.map(
    (url) =>
      new BenchTarget(
        { url, model, api, stream, apiKey: key, headers: header, ignoreEos, inFlightMax },
        scheduler,
      ),
  )
}

/** Says what will be sent before anything is. */
function announce(
  urls: readonly string[],
  model: string,
  traffic: BenchTraffic,
  plan: { readonly loads: readonly unknown[]; readonly sweep: boolean; readonly rounds: number } & {
    readonly stage: { readonly warmUpMs: number; readonly durationMs: number | null }
  },
): void {
  const stages = plan.loads.length * urls.length * plan.rounds
  const { warmUpMs, durationMs } = plan.stage
  const each =
    durationMs === null
      ? 'until their tasks are done'
      : `${(warmUpMs + durationMs) / 1_000} s each, of which the first ${warmUpMs / 1_000} s do ` +
        'not count'
  const count = `${plan.sweep ? 'about ' : ''}${stages} stage${stages === 1 ? '' : 's'}`
  process.stderr.write(
    `sending to ${urls.join(' and ')}, model ${model}: ${traffic.words}\n${count}, ${each}; ` +
      'Ctrl-C stops and reports\n',
  )
}

async function progressOf(
  scheduler: Scheduler,
): Promise<{ show: (progress: StageProgress) => void; end: () => void }> {
  const { LiveLine } = await import('./live-line.ts')
  const { progressText } = await import('./bench-progress.ts')
  const line = new LiveLine(scheduler)
  return { show: (progress) => line.show(progressText(progress)), end: () => line.end() }
}

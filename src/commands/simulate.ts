import { type Command, Option } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import type { ArmRuns } from '../lab/measure/compare.ts'
import type { ArmResults, ArmsPlan } from '../lab/runner/run-arms.ts'
import { CommandFailure } from './command-failure.ts'
import { numberArgument } from './number-argument.ts'

const help = `
Examples:
  warmpath simulate                                    # coding agents, three policies
  warmpath simulate --list                             # workloads, policies, profiles
  warmpath simulate --workload code-generation,sessions=80 --policy session-affinity,warmpath
  warmpath simulate --workload shared-prefix,perSecond=30 --fleet 8xqwen3-32b-2xh100
  warmpath simulate --fleet 4xllama-3.1-8b-h100:kvTokens=100000 --information approximate
  warmpath simulate --information events:100ms:1%      # engine events, late and lossy

All policies get the same arrivals, lengths and gaps. Ratios are against the first policy, with 95 %
intervals over the seeds. Time to first token counts from when the client had its request ready.
docs/guides/simulate.md explains the figures.
`

interface SimulateOptions {
  readonly workload: string
  readonly fleet: string
  readonly policy: string
  readonly seeds: number
  readonly seed: number
  readonly information: string
  readonly ttftSlo: number
  readonly tpotSlo: number
  readonly json?: true
  readonly list?: true
}

/** `warmpath simulate`: policies side by side on the same traffic, without a GPU. */
export function register(program: Command): void {
  program
    .command('simulate')
    .summary('compare policies on the same traffic, in virtual time')
    .description('Runs policies side by side on the same simulated traffic and fleet.')
    .option('--workload <name,options>', 'the traffic, and what to change in it', 'code-generation')
    .option('--fleet <list>', 'how many of which profile', '8xqwen3-coder-480b-tpu-v7x')
    .option(
      '--policy <list>',
      'which policies; the first is the base',
      'round-robin,session-affinity,warmpath',
    )
    .option('--seeds <number>', 'runs of each policy', numberArgument(1, 1_000), 3)
    .option('--seed <number>', 'the first of the seeds', numberArgument(0, 1e9), 1)
    .option(
      '--information <kind>',
      'what the router knows of caches: perfect, approximate, events:DELAY:LOST%',
      'perfect',
    )
    .option(
      '--ttft-slo <ms>',
      'goodput: longest wait for the first token',
      numberArgument(1, 1e9),
      2_000,
    )
    .option('--tpot-slo <ms>', 'goodput: longest time per token', numberArgument(1, 1e6), 60)
    .addOption(new Option('--json', 'print all figures as JSON').conflicts('list'))
    .option('--list', 'print the workloads, policies and profiles there are')
    .addHelpText('after', help)
    .action(simulate)
}

async function simulate(options: SimulateOptions): Promise<void> {
  if (options.list) {
    const { renderChoices } = await import('./render-choices.ts')
    process.stdout.write(renderChoices())
    return
  }
  const plan = await planOf(options)
  const { runArms } = await import('../lab/runner/run-arms.ts')
  const { realTimeScheduler } = await import('../io/real-time.ts')
  const { ProgressLine } = await import('./progress-line.ts')
  const progress = new ProgressLine('simulations', realTimeScheduler())
  const onDone = (done: number, of: number): void => progress.show(done, of)
  const arms = await runArms(plan, { onDone }).finally(() => progress.end())
  if (options.json) await printJson(options, plan, arms)
  else await printTables(options, arms)
}

/** Everything that can be wrong with the command line is found here, before anything runs. */
async function planOf(options: SimulateOptions): Promise<ArmsPlan> {
  const { armsOf } = await import('../lab/runner/arm-spec.ts')
  const { fleetOf } = await import('../lab/runner/fleet-spec.ts')
  const { informationOf } = await import('../lab/runner/information-spec.ts')
  const { parseWorkload } = await import('../lab/workload/workloads.ts')
  const { profileArgument } = await import('./profile-argument.ts')
  const { workload, fleet } = options
  usage('--workload', () => parseWorkload(workload))
  return {
    arms: usage('--policy', () => armsOf(options.policy)),
    seeds: Array.from({ length: options.seeds }, (_, i) => options.seed + i),
    common: {
      workload,
      members: usage('--fleet', () => fleetOf(fleet, (name) => profileArgument(name, '--fleet'))),
      information: usage('--information', () => informationOf(options.information)),
      slo: { ttftMs: options.ttftSlo, tpotMs: options.tpotSlo },
    },
  }
}

function usage<Value>(flag: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new CommandFailure(exitCodes.usage, `${flag}: ${error.message}`)
  }
}

async function printTables(options: SimulateOptions, arms: readonly ArmRuns[]): Promise<void> {
  const { compareArms } = await import('../lab/measure/compare.ts')
  const { headline, headlineMetrics } = await import('../lab/measure/headline.ts')
  const { figureTable, ratioTable } = await import('./render-simulation.ts')
  const { workload, fleet, seeds, seed, information } = options
  const lastSeed = seed + seeds - 1
  const which = seeds === 1 ? `seed ${seed}` : `seeds ${seed} to ${lastSeed}`
  const compared = compareArms(arms, headlineMetrics)
  const parts = [
    `simulated: ${workload} on ${fleet}, ${information} information, ${which}`,
    figureTable(arms),
  ]
  if (arms.length > 1) {
    parts.push(
      `${ratioTable(compared)}\n95 % intervals over seeds, paired; goodput in percentage points`,
      headline(compared, fleet),
    )
  }
  process.stdout.write(`${parts.join('\n\n')}\n`)
}

async function printJson(
  options: SimulateOptions,
  { seeds, common }: ArmsPlan,
  arms: readonly ArmResults[],
): Promise<void> {
  const { compareArms } = await import('../lab/measure/compare.ts')
  const { headlineMetrics } = await import('../lab/measure/headline.ts')
  const compared = compareArms(arms, headlineMetrics)
  const report = {
    schema: 'warmpath-simulation/1',
    simulated: true,
    fleet: options.fleet,
    ...common,
    seeds,
    metrics: headlineMetrics.map(({ name, moreIsBetter }) => ({ name, moreIsBetter })),
    arms: arms.map(({ choice, runs }, i) => ({
      source: choice.arm.source,
      variant: choice.variant.label,
      ...compared[i],
      runs: runs.map(({ figures }, n) => ({ seed: seeds[n], ...figures })),
    })),
  }
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
}

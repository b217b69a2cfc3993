import type { Command } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import type { Goal } from '../lab/goals/goal.ts'
import type { GoalPlan, GoalResult } from '../lab/goals/run-goal.ts'
import { CommandFailure } from './command-failure.ts'
import { numberArgument } from './number-argument.ts'
import { printReport, provenance, type ReportFlags, reportFlags } from './print-report.ts'

const help = `
Examples:
  warmpath lab goal             # the goals there are
  warmpath lab goal G3          # up to half an hour on two cores
  warmpath lab goal G2 --quick  # fewer points and seeds, in a minute or two
  warmpath lab goal all --json > goals.json

Every arm of the field runs in every variant on two seeds; the best three, those that a claim names,
and warmpath go on to all seeds. A claim is met when the whole 95 % interval meets its number.
Recordings are looked for in WARMPATH_DATA, or in ../shared/data; without them goals are left out.
Everything is simulated. Exit status 1: a claim was missed or not shown.
`

const fullPlan: Omit<GoalPlan, 'dataFolder'> = { seeds: 10, screeningSeeds: 2, quick: false }
const quickPlan: Omit<GoalPlan, 'dataFolder'> = { seeds: 3, screeningSeeds: 1, quick: true }

interface LabGoalOptions extends ReportFlags {
  readonly quick?: true
  readonly seeds?: number
}

/** `warmpath lab goal`: the default policy beside the field's on the traffic of a goal. */
export function register(lab: Command): void {
  const command = lab
    .command('goal')
    .summary('run a goal: the default policy against the best of the field')
    .description('Holds the default policy to what it must show on the traffic of a goal.')
    .argument('[goal...]', 'their names, or all; without any they are listed')
    .option('--quick', 'fewer points and seeds: an impression, not a verdict')
    .option('--seeds <number>', 'runs of warmpath and the best peers', numberArgument(1, 1_000))
  reportFlags(command).addHelpText('after', help).action(labGoal)
}

async function labGoal(names: readonly string[], options: LabGoalOptions): Promise<void> {
  if (names.length === 0) {
    const { goals } = await import('../lab/goals/goals.ts')
    process.stdout.write(`${goals.map(({ name, title }) => `${name}  ${title}`).join('\n')}\n`)
    return
  }
  const { goalReport } = await import('../lab/goals/goal-report.ts')
  const { goalFigures } = await import('../lab/goals/goal-figures.ts')
  const plan = planOf(options)
  const results: GoalResult[] = []
  for (const goal of await goalsOf(names)) results.push(await run(goal, plan))
  const seeds = Array.from({ length: plan.seeds }, (_, i) => i + 1)
  const from = await provenance({ seeds, simulated: true })
  await printReport(goalReport(results, from), goalFigures(results), options)
  const verdicts = results.flatMap((result) => result.verdicts)
  if (verdicts.some(({ outcome }) => outcome === 'missed' || outcome === 'not shown')) {
    process.exitCode = exitCodes.failed
  }
}

function planOf({ quick, seeds }: LabGoalOptions): GoalPlan {
  const dataFolder = process.env.WARMPATH_DATA ?? '../shared/data'
  const plan = { ...(quick ? quickPlan : fullPlan), dataFolder }
  if (seeds === undefined) return plan
  return { ...plan, seeds, screeningSeeds: Math.min(plan.screeningSeeds, seeds) }
}

async function goalsOf(names: readonly string[]): Promise<Goal[]> {
  const { goalsNamed } = await import('../lab/goals/goals.ts')
  try {
    return goalsNamed(names)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new CommandFailure(exitCodes.usage, error.message)
  }
}

async function run(goal: Goal, plan: GoalPlan): Promise<GoalResult> {
  const { runGoal } = await import('../lab/goals/run-goal.ts')
  const { realTimeScheduler } = await import('../io/real-time.ts')
  const { ProgressLine } = await import('./progress-line.ts')
  const progress = new ProgressLine(`simulations for ${goal.name}`, realTimeScheduler())
  const onDone = (done: number, of: number): void => progress.show(done, of)
  return await runGoal(goal, plan, onDone).finally(() => progress.end())
}

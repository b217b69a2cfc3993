import type { Command } from 'commander'
import type { FidelityPlan } from '../lab/fidelity/run-fidelity.ts'
import { printReport, provenance, type ReportFlags, reportFlags } from './print-report.ts'

const help = `
Examples:
  warmpath lab fidelity                     # in about a minute on two cores
  warmpath lab fidelity --quick             # fewer seeds
  warmpath lab fidelity --html fidelity.html
`

interface FidelityOptions extends ReportFlags {
  readonly quick?: true
}

const fullPlan: FidelityPlan = {
  stageSeeds: [11, 12, 13],
  otherSeeds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
}
const quickPlan: FidelityPlan = { stageSeeds: [11], otherSeeds: [1, 2] }

/** `warmpath lab fidelity`: the simulator against published measurements. */
export function register(lab: Command): void {
  const command = lab
    .command('fidelity')
    .summary('hold the simulator against published measurements')
    .description('Runs published experiments in simulation, and prints both figures and the error.')
    .option('--quick', 'fewer seeds')
  reportFlags(command).addHelpText('after', help).action(labFidelity)
}

async function labFidelity(options: FidelityOptions): Promise<void> {
  const { runFidelity } = await import('../lab/fidelity/run-fidelity.ts')
  const { fidelityReport } = await import('../lab/fidelity/fidelity-report.ts')
  const { realTimeScheduler } = await import('../io/real-time.ts')
  const { ProgressLine } = await import('./progress-line.ts')
  const progress = new ProgressLine('simulations', realTimeScheduler())
  const plan = options.quick ? quickPlan : fullPlan
  const onDone = (done: number, of: number): void => progress.show(done, of)
  const fidelity = await runFidelity(plan, { onDone }).finally(() => progress.end())
  const seeds = [...plan.stageSeeds, ...plan.otherSeeds]
  const from = await provenance({ seeds, simulated: true })
  await printReport(fidelityReport(fidelity, from), fidelity, options)
}

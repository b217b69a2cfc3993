import type { Command } from 'commander'
import * as labFidelity from './lab-fidelity.ts'
import * as labGoal from './lab-goal.ts'

/** `warmpath lab`: what the simulator itself and the default policy are held to. */
export function register(program: Command): void {
  const lab = program
    .command('lab')
    .summary('hold simulator and default policy to figures')
    .description('Experiments in simulation, each with a verdict.')
    .helpCommand(false)
  for (const command of [labFidelity, labGoal]) command.register(lab)
}

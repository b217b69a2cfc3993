import type { Command } from 'commander'
import * as labGoal from './lab-goal.ts'

/** `warmpath lab`: what the simulator itself and the default policy are held to. */
export function register(program: Command): void {
  const lab = program
    .command('lab')
    .summary('hold the default policy to its goals')
    .description('Experiments in simulation, each with a verdict.')
    .helpCommand(false)
  for (const command of [labGoal]) command.register(lab)
}

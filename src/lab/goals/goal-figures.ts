import type { ArmResults } from '../runner/run-arms.ts'
import type { GoalResult } from './run-goal.ts'

/** What was measured, as plain data for `--json`. */
export function goalFigures(results: readonly GoalResult[]): object {
  return { schema: 'warmpath-goals/1', simulated: true, goals: results.map(reportOf) }
}

function reportOf({ goal, plan, points, missing, verdicts }: GoalResult): object {
  return {
    name: goal.name,
    title: goal.title,
    seeds: plan.seeds,
    screeningSeeds: plan.screeningSeeds,
    quick: plan.quick,
    rankedBy: goal.rank.name,
    missing,
    points: points.map(({ point, screened, ours, peers }) => ({
      ...point,
      screened,
      arms: [ours, ...peers].map(armOf),
    })),
    claims: verdicts.map(({ claim, ...verdict }) => ({
      figure: claim.metric.name,
      ...(claim.atLeast === undefined ? {} : { atLeast: claim.atLeast }),
      ...(claim.atMost === undefined ? {} : { atMost: claim.atMost }),
      ...verdict,
    })),
  }
}

function armOf({ name, choice, runs }: ArmResults): object {
  const { arm, variant } = choice
  const figures = runs.map((run, i) => ({ seed: i + 1, ...run.figures }))
  return { name, source: arm.source, variant: variant.label, runs: figures }
}

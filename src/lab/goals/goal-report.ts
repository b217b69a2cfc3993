/** Goals and what came of them, for readers. */
import type { Provenance, Report, ReportPart, ReportSection } from '../report/report.ts'
import { armTable } from './arm-table.ts'
import { claimTable, shortfalls } from './claim-table.ts'
import { goalPlots } from './goal-plots.ts'
import type { GoalPlan, GoalResult, PointResult } from './run-goal.ts'
import type { Verdict } from './verdicts.ts'

/** With fewer seeds nothing is shown. */
const seedsMin = 10

export function goalReport(results: readonly GoalResult[], provenance: Provenance): Report {
  const [first] = results
  const title =
    results.length === 1
      ? `${first!.goal.name}: ${first!.goal.title}`
      : 'Goals of the default policy'
  return {
    title: `${title} (${planText(first!.plan)}, simulated)`,
    summary: results.map(summaryOf).join('\n'),
    provenance,
    sections: results.map(sectionOf),
  }
}

function sectionOf(result: GoalResult): ReportSection {
  const { goal, points, verdicts } = result
  const parts: ReportPart[] = [
    ...points.map(pointTable),
    claimTable(verdicts),
    ...goalPlots(result),
  ]
  return { title: `${goal.name}: ${goal.title}`, parts }
}

function pointTable({ point, screened, ours, peers }: PointResult): ReportPart {
  const { arms, variants } = screened
  return armTable(
    `${point.name}: ${point.workload} on ${point.fleet}`,
    [ours, ...peers],
    `the best of ${arms} arms in ${variants} variants, and those that claims name`,
  )
}

function planText({ seeds, screeningSeeds, quick }: GoalPlan): string {
  const which = `${seeds} seeds, all arms screened on ${screeningSeeds}`
  return quick ? `quick: fewer points, ${which}` : which
}

function summaryOf({ goal, plan, missing, verdicts }: GoalResult): string {
  const count = (outcome: Verdict['outcome']): number =>
    verdicts.filter((verdict) => verdict.outcome === outcome).length
  const others = (['missed', 'not shown', 'not judged'] as const)
    .filter((outcome) => count(outcome) > 0)
    .map((outcome) => `${count(outcome)} ${outcome}`)
  const parts = [`${count('met')} of ${verdicts.length} claims of ${goal.name} are met`, ...others]
  const few = plan.seeds < seedsMin ? ` With fewer than ${seedsMin} seeds, an impression only.` : ''
  const left = missing.map((file) => `Points of ${goal.name} are left out: there is no ${file}.`)
  return [`${parts.join(', ')}.${few}`, ...left, ...shortfalls(verdicts)].join('\n')
}

/** Runs what a goal needs, and judges. */
import { join } from 'node:path'
import { fileExists } from '../../io/file-exists.ts'
import { arms } from '../arms/arms.ts'
import { profileNamed } from '../engine/profiles.ts'
import { type ArmChoice, armsOf } from '../runner/arm-spec.ts'
import { fleetOf } from '../runner/fleet-spec.ts'
import { type ArmResults, runArms } from '../runner/run-arms.ts'
import type { Goal, GoalPoint } from './goal.ts'
import { finalistsOf, ranked } from './screening.ts'
import { type Verdict, verdictsOf } from './verdicts.ts'

export interface GoalPlan {
  /** Runs of the best peers and of ours. */
  readonly seeds: number
  /** Runs of every arm in every variant. */
  readonly screeningSeeds: number
  /** Without the points that are only for a full run. */
  readonly quick: boolean
  /** Where recordings are looked for. */
  readonly dataFolder: string
}

export interface PointResult {
  readonly point: GoalPoint
  /** How many arms there were at first, in how many variants. */
  readonly screened: { readonly arms: number; readonly variants: number }
  /** The first run has its records, to be drawn. */
  readonly ours: ArmResults
  /** The peers that ran on all seeds, best first. */
  readonly peers: readonly ArmResults[]
}

export interface GoalResult {
  readonly goal: Goal
  readonly plan: GoalPlan
  readonly points: readonly PointResult[]
  /** Files that were not there, and with them the points that need them. */
  readonly missing: readonly string[]
  readonly verdicts: readonly Verdict[]
}

const ourName = 'warmpath'

/** @param onDone told how many simulations are done, of about how many */
export async function runGoal(
  goal: Goal,
  plan: GoalPlan,
  onDone: (done: number, of: number) => void = () => {},
): Promise<GoalResult> {
  const files = [...new Set(goal.points.flatMap(({ recording }) => recording ?? []))]
  const missing = files.filter((file) => !fileExists(join(plan.dataFolder, file)))
  const points = goal.points.filter(
    ({ fullOnly, recording = '' }) => !(plan.quick && fullOnly) && !missing.includes(recording),
  )
  const peers = peersOf(goal)
  const tally = new Tally(points.length, peers.length, plan, onDone)
  const results: PointResult[] = []
  for (const point of points) results.push(await runPoint(goal, point, { plan, peers, tally }))
  return {
    goal,
    plan,
    points: results,
    missing,
    verdicts: verdictsOf(goal.claims, results, goal.points.length),
  }
}

/** Whom the goal runs against. */
function peersOf({ field }: Goal): ArmChoice[] {
  const names = arms.map(({ name }) => name).filter((name) => name !== ourName)
  if (field === undefined) return names.flatMap((name) => armsOf(`${name}:all`))
  return (field === 'defaults' ? names : field).flatMap(armsOf)
}

async function runPoint(
  goal: Goal,
  point: GoalPoint,
  { plan, peers, tally }: { plan: GoalPlan; peers: readonly ArmChoice[]; tally: Tally },
): Promise<PointResult> {
  const seeds = Array.from({ length: plan.seeds }, (_, i) => i + 1)
  const first = seeds.slice(0, plan.screeningSeeds)
  const run = (
    choices: readonly ArmChoice[],
    some: readonly number[],
    records = false,
  ): Promise<ArmResults[]> => {
    const members = fleetOf(point.fleet, profileNamed)
    const common = { workload: workloadOf(point, plan), ...point.more, members, records }
    return runArms({ arms: choices, seeds: some, common }, { onDone: () => tally.done() })
  }
  const claims = goal.claims.filter(({ points }) => points?.includes(point.name) ?? true)
  const screened = await run(peers, first)
  const kept = finalistsOf(screened, goal.rank, claims)
  tally.kept(kept.length)
  const rest = await run(
    kept.map(({ choice }) => choice),
    seeds.slice(first.length),
  )
  const whole = kept.map((arm, i) => ({ ...arm, runs: [...arm.runs, ...rest[i]!.runs] }))
  const [shown] = await run(armsOf(ourName), first.slice(0, 1), true)
  const [ours] = await run(armsOf(ourName), seeds.slice(1))
  return {
    point,
    screened: { arms: new Set(peers.map(({ arm }) => arm)).size, variants: peers.length },
    ours: { ...ours!, runs: [...shown!.runs, ...ours!.runs] },
    peers: ranked(whole, goal.rank),
  }
}

function workloadOf({ workload, recording }: GoalPoint, { dataFolder }: GoalPlan): string {
  return recording === undefined ? workload : `${workload},file=${join(dataFolder, recording)}`
}

/** Counts the simulations of a goal; how many go on from the screening is a guess at first. */
class Tally {
  readonly #onDone: (done: number, of: number) => void
  readonly #restPerArm: number
  #done = 0
  #of: number

  constructor(
    points: number,
    peers: number,
    plan: GoalPlan,
    onDone: (done: number, of: number) => void,
  ) {
    this.#onDone = onDone
    this.#restPerArm = plan.seeds - plan.screeningSeeds
    this.#of = points * (peers * plan.screeningSeeds + plan.seeds + 5 * this.#restPerArm)
  }

  done(): void {
    this.#onDone(++this.#done, Math.max(this.#of, this.#done))
  }

  kept(arms: number): void {
    this.#of += (arms - 5) * this.#restPerArm
  }
}

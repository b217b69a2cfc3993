import type { Scheduler } from '../../base/scheduler.ts'
import type { BenchSlo } from './bench-slo.ts'
import type { BenchTarget } from './bench-target.ts'
import type { TaskSource } from './bench-task.ts'
import { judgeStage, type Knee, kneeOf, rateBetween } from './knee.ts'
import { Stage } from './stage.ts'
import { type StageFigures, stageFigures } from './stage-figures.ts'
import type { StageLoad, StagePlan } from './stage-load.ts'
import type { StageSamples, StageTally } from './stage-tally.ts'

export interface BenchPlan {
  readonly loads: readonly StageLoad[]
  /** Loads are rates that rise: stop when all have failed at two, then narrow the knees down. */
  readonly sweep: boolean
  /** Times that all loads are run; a sweep is run once. */
  readonly rounds: number
  readonly stage: Omit<StagePlan, 'load' | 'seed'>
  readonly seed: number
  readonly slo: BenchSlo
  /** The tasks of one stage: equal for equal numbers. */
  readonly sourceOf: (stage: StageId) => TaskSource
}

export interface StageId {
  /** Differs from stage to stage and round to round, not from target to target. */
  readonly seed: number
  /** Place of the target: they may share engines, and must not warm each other's caches. */
  readonly target: number
}

export interface StageProgress {
  readonly url: string
  readonly load: StageLoad
  /** 1 for the first; how many there are is not known beforehand in a sweep. */
  readonly stage: number
  readonly stages: number
  readonly elapsedMs: number
  readonly plannedMs: number | null
  readonly tally: StageTally
}

export interface MeasuredStage {
  readonly figures: StageFigures
  readonly samples: StageSamples
}

export interface BenchResult {
  readonly stages: readonly MeasuredStage[]
  /** Of a sweep, one a target. */
  readonly knees: readonly Knee[]
  /** Ended before its time. */
  readonly cut: boolean
}

const progressMs = 250
/** Rates tried between each knee and the rate that failed. */
const narrowings = 2

/** Runs all stages, those of two targets one after the other, the first of a pair by turns. */
export class BenchRun {
  readonly #targets: readonly BenchTarget[]
  readonly #plan: BenchPlan
  readonly #scheduler: Scheduler
  readonly #signal: AbortSignal
  readonly #onProgress: (progress: StageProgress) => void
  readonly #stages: MeasuredStage[] = []
  #pairs = 0

  constructor(
    targets: readonly BenchTarget[],
    plan: BenchPlan,
    scheduler: Scheduler,
    signal: AbortSignal,
    onProgress: (progress: StageProgress) => void,
  ) {
    this.#targets = targets
    this.#plan = plan
    this.#scheduler = scheduler
    this.#signal = signal
    this.#onProgress = onProgress
  }

  async run(): Promise<BenchResult> {
    if (this.#plan.sweep) await this.#sweep()
    else await this.#rounds()
    const knees = this.#plan.sweep ? this.#knees() : []
    return { stages: this.#stages, knees, cut: this.#signal.aborted }
  }

  async #rounds(): Promise<void> {
    for (let round = 0; round < this.#plan.rounds; round++) {
      for (const load of this.#plan.loads) await this.#pair(load, round)
    }
  }

  async #sweep(): Promise<void> {
    for (const load of this.#plan.loads) {
      await this.#pair(load, 0)
      if (this.#targets.every(({ url }) => this.#notPassed(url) >= 2)) break
    }
    for (let i = 0; i < narrowings; i++) {
      for (const { url } of this.#targets) {
        const perSecond = rateBetween(kneeOf(url, this.#figures()))
        const [first] = this.#plan.loads
        if (perSecond === null || first?.kind !== 'rate') continue
        await this.#pair({ ...first, perSecond }, 0)
      }
    }
  }

  async #pair(load: StageLoad, round: number): Promise<void> {
    const order = [...this.#targets.entries()]
    if (this.#pairs % 2 === 1) order.reverse()
    const seed = this.#plan.seed + this.#pairs++
    for (const [place, target] of order) {
      if (this.#signal.aborted) return
      const source = this.#plan.sourceOf({ seed, target: place })
      const plan = { ...this.#plan.stage, load, seed }
      const { slo } = this.#plan
      const stage = new Stage(target, source, plan, slo, this.#scheduler)
      const endProgress = this.#watch(stage.tally, target.url, plan)
      const run = await stage.run(this.#signal).finally(endProgress)
      const figures = stageFigures(run, plan, slo, {
        url: target.url,
        round,
        cut: this.#signal.aborted,
      })
      this.#stages.push({ figures, samples: run.tally.samples })
    }
  }

  /** Tells of the stage now and then; returns what ends that. */
  #watch(tally: StageTally, url: string, { load, warmUpMs, durationMs }: StagePlan): () => void {
    const startMs = this.#scheduler.nowMs()
    const stage = this.#stages.length + 1
    const { loads, rounds, sweep } = this.#plan
    const stages = loads.length * this.#targets.length * (sweep ? 1 : rounds)
    const plannedMs = durationMs === null ? null : warmUpMs + durationMs
    let cancel = (): void => {}
    const tell = (): void => {
      const nowMs = this.#scheduler.nowMs()
      const elapsedMs = nowMs - startMs
      this.#onProgress({ url, load, stage, stages, elapsedMs, plannedMs, tally })
      cancel = this.#scheduler.at(nowMs + progressMs, tell)
    }
    tell()
    return () => cancel()
  }

  #figures(): StageFigures[] {
    return this.#stages.map(({ figures }) => figures)
  }

  #notPassed(url: string): number {
    return this.#figures().filter((one) => one.url === url && judgeStage(one) !== 'passed').length
  }

  #knees(): Knee[] {
    return this.#targets.map(({ url }) => kneeOf(url, this.#figures()))
  }
}

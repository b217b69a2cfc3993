/** A calibration from the first question to the fit. */
import { seededRandom } from '../../base/random.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import { UpstreamPool } from '../../io/http1/upstream-pool.ts'
import { type EngineFetch, engineFetch, engineHeaders } from '../../sources/engine-fetch.ts'
import { profileDefaults } from '../engine/profile.ts'
import { CalibrationProblem } from './calibration-problem.ts'
import { askFacts, askLoad, type EngineFacts, type EngineLoad } from './engine-facts.ts'
import { decideLimits, type EngineLimits, type LimitSources } from './engine-limits.ts'
import type { EngineUnderTest } from './engine-under-test.ts'
import { type Experiment, planExperiments } from './experiment-plan.ts'
import { findDialect } from './find-dialect.ts'
import { type Fit, fitCoefficients } from './fit-coefficients.ts'
import { HttpEngine } from './http-engine.ts'
import { cacheJudge, cacheWorks, unitOf, untoldWithoutCache, withoutCache } from './prefix-cache.ts'
import { type ProbedCapacity, probeCapacity } from './probe-capacity.ts'
import { type RunResult, runExperiments } from './run-experiments.ts'
import { UniqueText } from './unique-text.ts'

export interface CalibrationOptions {
  /** `http://host:port`. */
  readonly url: string
  /** Null takes the only one there is. */
  readonly model: string | null
  readonly apiKey: string | null
  readonly minutes: number
  readonly roundsMax: number
  readonly atOnceMax: number
  readonly promptTokensMax: number
  /** What the operator knows of the engine; it outweighs what the engine says. */
  readonly given: Partial<EngineLimits>
  /** Makes the prompts unlike those of every other run. */
  readonly seed: number
  readonly scheduler: Scheduler
  readonly signal: AbortSignal
}

export interface Calibration {
  readonly facts: EngineFacts
  readonly limits: EngineLimits
  readonly sources: LimitSources
  readonly fit: Fit
  readonly run: RunResult
  /** Whether prompts that were sent again were found cached. */
  readonly cacheWorks: boolean
  /** What was found of the KV memory by filling it; null where the engine told it. */
  readonly probed: ProbedCapacity | null
  /** Rounds at whose start others had requests in the engine. */
  readonly disturbedRounds: number
}

export interface CalibrationEvents {
  readonly onExperiment: (label: string, round: number) => void
  /** Others have so many requests in the engine, at the start of a round. */
  readonly onOthers: (requests: number) => void
  /** The KV memory is being filled, with so many tokens by now. */
  readonly onProbing: (tokens: number) => void
}

/** No prompt takes a larger share of the time there is. */
const firstTokenShareMax = 0.1
const callMsMax = 600_000
const probedTokensMax = 4_000_000

/** An engine that was asked what it is, and a plan for it. Nothing is sent before `measure`. */
export class Calibrator {
  readonly facts: EngineFacts
  /** Null where it shows no metrics. */
  readonly loadBefore: EngineLoad | null
  readonly experiments: readonly Experiment[]
  readonly #options: CalibrationOptions
  readonly #pool: UpstreamPool
  readonly #fetch: EngineFetch
  readonly #headers: readonly string[]

  /** @throws CalibrationProblem where the engine is not there or cannot be calibrated */
  static async ask(options: CalibrationOptions): Promise<Calibrator> {
    const pool = new UpstreamPool(options.url, {}, options.scheduler)
    try {
      const fetch = engineFetch(pool, options.scheduler)
      const headers = engineHeaders(options.apiKey)
      const facts = { ...(await askFacts(fetch, options.model, headers)), ...options.given }
      const load = await askLoad(fetch, facts.engine, headers)
      return new Calibrator(options, pool, facts, load)
    } catch (error) {
      pool.close()
      if (error instanceof RangeError) throw new CalibrationProblem('usage', error.message)
      throw error
    }
  }

  private constructor(
    options: CalibrationOptions,
    pool: UpstreamPool,
    facts: EngineFacts,
    loadBefore: EngineLoad | null,
  ) {
    this.#options = options
    this.#pool = pool
    this.#fetch = engineFetch(pool, options.scheduler)
    this.#headers = engineHeaders(options.apiKey)
    this.facts = facts
    this.loadBefore = loadBefore
    const { atOnceMax, promptTokensMax } = options
    this.experiments = planExperiments({ ...facts, atOnceMax, promptTokensMax })
  }

  close(): void {
    this.#pool.close()
  }

  /**
   * Rejects with a CallFailed when a call fails or the signal stops it, and with a
   * CalibrationProblem where the engine takes no request at all.
   */
  async measure(events: CalibrationEvents): Promise<Calibration> {
    const { scheduler, seed, minutes, given } = this.#options
    const untilMs = scheduler.nowMs() + minutes * 60_000
    const text = new UniqueText(seededRandom(seed))
    const engine = await findDialect((dialect) => this.#engineFor(dialect), text)
    const disturbed = { rounds: 0 }
    const run = await this.#run(engine, text, untilMs, disturbed, events)
    const works = cacheWorks(run.observations, run.cachedTold)
    const measured = {
      blockTokens: unitOf(run.cachedTold),
      batchTokensMax: run.batchTokensMax,
    }
    const observations = works ? run.observations : withoutCache(run.observations)
    const { batchTokensMax } = decideLimits(given, this.facts, measured).limits
    const leftOut = works ? [] : untoldWithoutCache
    const fit = fitCoefficients(observations, batchTokensMax, leftOut)
    const probed =
      this.facts.kvTokens === null && works
        ? await this.#probe(engine, text, untilMs, cacheJudge(fit, batchTokensMax), events)
        : null
    const kvTokens = probed?.tokens ?? null
    const decided = decideLimits(given, this.facts, { ...measured, kvTokens })
    const disturbedRounds = disturbed.rounds
    return { facts: this.facts, ...decided, fit, run, cacheWorks: works, probed, disturbedRounds }
  }

  #run(
    engine: EngineUnderTest,
    text: UniqueText,
    untilMs: number,
    disturbed: { rounds: number },
    events: CalibrationEvents,
  ): Promise<RunResult> {
    const { scheduler, minutes, roundsMax } = this.#options
    return runExperiments({
      engine,
      experiments: this.experiments,
      text,
      clock: scheduler,
      roundsMax,
      untilMs,
      firstTokenMsMax: minutes * 60_000 * firstTokenShareMax,
      blockTokens: this.facts.blockTokens ?? profileDefaults.blockTokens,
      onExperiment: events.onExperiment,
      beforeRound: async () => {
        const load = await this.#load()
        if (load === null || load.requests === 0) return
        disturbed.rounds += 1
        events.onOthers(load.requests)
      },
    })
  }

  #engineFor(dialect: ConstructorParameters<typeof HttpEngine>[0]['dialect']): HttpEngine {
    const { scheduler, signal } = this.#options
    return new HttpEngine({
      pool: this.#pool,
      scheduler,
      model: this.facts.model,
      headers: this.#headers,
      dialect,
      timeoutMs: callMsMax,
      signal,
    })
  }

  #load(): Promise<EngineLoad | null> {
    return askLoad(this.#fetch, this.facts.engine, this.#headers)
  }

  #probe(
    engine: EngineUnderTest,
    text: UniqueText,
    untilMs: number,
    wasCached: ReturnType<typeof cacheJudge>,
    events: CalibrationEvents,
  ): Promise<ProbedCapacity> {
    return probeCapacity({
      engine,
      text,
      promptTokensMax: Math.max(...this.experiments.map(({ promptTokens }) => promptTokens)),
      tokensMax: probedTokensMax,
      wasCached,
      mayGoOn: () => this.#options.scheduler.nowMs() < untilMs,
      onFilled: events.onProbing,
    })
  }
}

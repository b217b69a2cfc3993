import { randomInt, seededRandom } from '../../base/random.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import { unixTimeMs } from '../../io/real-time.ts'
import type { EngineProfile } from '../engine/profile.ts'
import type { FinishReason } from './answer-format.ts'
import { ApiError, type ErrorShape } from './api-error.ts'
import { EmulatedEngine } from './emulated-engine.ts'
import type { Faults } from './faults.ts'
import { ResponseStore } from './response-store.ts'

/** The engine whose wire the emulator imitates. */
export type Personality = 'vllm' | 'sglang'

export interface ProcessOptions {
  readonly profile: EngineProfile
  readonly personality: Personality
  /** Names under which the model is served; the first is the one that answers carry. */
  readonly models: readonly string[]
  readonly seed: number
  readonly answerTokensMean: number
  /** The engine's clock, which a time scale may speed up. */
  readonly scheduler: Scheduler
  /** The real clock, for faults. */
  readonly wall: Scheduler
}

/** One life of a replica: a restart begins another, with an empty cache and a new start time. */
export class EngineProcess {
  readonly options: ProcessOptions
  readonly engine: EmulatedEngine
  readonly responses = new ResponseStore()
  readonly startedS = unixTimeMs() / 1000
  readonly contextTokensMax: number
  /** Requests answered in full, by the reason why their answers ended. */
  readonly finishedByReason: Record<FinishReason, number> = { stop: 0, length: 0 }
  /** Generation requests being handled, as `/load` shows them. */
  load = 0
  #faults: Faults = {}
  /** Requests that the error fault still takes. */
  #errorsLeft = 0
  readonly #asleep: (() => void)[] = []
  readonly #ids

  constructor(options: ProcessOptions) {
    const { profile, scheduler, seed, answerTokensMean } = options
    this.options = options
    this.engine = new EmulatedEngine(profile, scheduler, { seed, answerTokensMean })
    const { capacityBlocks } = this.engine.model.pool
    const capacityTokens = capacityBlocks * profile.blockTokens
    this.contextTokensMax = Math.min(profile.contextTokensMax, capacityTokens)
    this.#ids = seededRandom(seed + this.startedS * 1000)
  }

  get faults(): Faults {
    return this.#faults
  }

  /** Replaces the faults. Requests that hung because the engine slept go on when it wakes. */
  set faults(faults: Faults) {
    this.#faults = faults
    this.#errorsLeft = faults.error?.requests ?? Number.POSITIVE_INFINITY
    this.engine.slowdown = faults.slowdown ?? 1
    if (faults.asleep !== true) for (const wake of this.#asleep.splice(0)) wake()
  }

  get errorShape(): ErrorShape {
    return this.options.personality === 'sglang' ? 'flat' : 'openai'
  }

  /** Sixteen hexadecimal digits, as in the ids of vLLM's answers. */
  newId(): string {
    const half = (): string =>
      randomInt(this.#ids, 2 ** 32)
        .toString(16)
        .padStart(8, '0')
    return half() + half()
  }

  /** The error that a fault has for the next generation request. */
  takeError(): Faults['error'] {
    if (this.#faults.error === undefined || this.#errorsLeft <= 0) return undefined
    this.#errorsLeft -= 1
    return this.#faults.error
  }

  /** Calls `run` now, or when the engine wakes up. */
  whenAwake(run: () => void): void {
    if (this.#faults.asleep === true) this.#asleep.push(run)
    else run()
  }

  /** Throws the engine's 404 for a model that it does not serve. No name means the only one. */
  checkModel(model: string | undefined): void {
    const { models } = this.options
    if (model === undefined || models.includes(model)) return
    const message = `The model \`${model}\` does not exist. Valid aliases: ${models.join(', ')}.`
    throw new ApiError(404, 'NotFoundError', message, 'model')
  }
}
